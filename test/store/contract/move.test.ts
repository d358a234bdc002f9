import { storeContract } from '../contract.ts';

storeContract('move');
