import { storeContract } from '../contract.ts';

storeContract('account');
