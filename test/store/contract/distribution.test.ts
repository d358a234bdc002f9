import { storeContract } from '../contract.ts';

storeContract('distribution');
