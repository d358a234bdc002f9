import { storeContract } from '../contract.ts';

storeContract('outbox');
