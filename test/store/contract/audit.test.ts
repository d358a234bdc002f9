import { storeContract } from '../contract.ts';

storeContract('audit');
