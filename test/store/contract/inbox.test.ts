import { storeContract } from '../contract.ts';

storeContract('inbox');
