import { storeContract } from '../contract.ts';

storeContract('pushing');
