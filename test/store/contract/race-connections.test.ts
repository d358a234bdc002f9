import { raceContract } from '../contract.ts';

raceContract('connections');
