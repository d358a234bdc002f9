import { storeContract } from '../contract.ts';

storeContract('delivery');
