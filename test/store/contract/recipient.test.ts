import { storeContract } from '../contract.ts';

storeContract('recipient');
