import { storeContract } from '../contract.ts';

storeContract('job');
