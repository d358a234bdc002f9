import { playScenarios } from '../scenarios/play.ts';

playScenarios('domain-hwid');
