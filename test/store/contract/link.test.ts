import { storeContract } from '../contract.ts';

storeContract('link');
