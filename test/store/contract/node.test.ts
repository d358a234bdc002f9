import { storeContract } from '../contract.ts';

storeContract('node');
