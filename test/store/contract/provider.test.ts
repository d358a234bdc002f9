import { storeContract } from '../contract.ts';

storeContract('provider');
