import { storeContract } from '../contract.ts';

storeContract('event');
