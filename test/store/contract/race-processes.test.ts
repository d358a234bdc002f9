import { raceContract } from '../contract.ts';

raceContract('processes');
