import { storeContract } from '../contract.ts';

storeContract('reminding');
