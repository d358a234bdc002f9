import { storeContract } from '../contract.ts';

storeContract('change');
