import { playScenarios } from '../scenarios/play.ts';

playScenarios('link');
