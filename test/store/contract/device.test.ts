import { storeContract } from '../contract.ts';

storeContract('device');
