import { storeContract } from '../contract.ts';

storeContract('serving');
