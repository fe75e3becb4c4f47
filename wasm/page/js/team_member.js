// One of a team's other threads: takes part in the steps that it is told of, one after another.
import { serveStep } from './team.js';

onmessage = ({ data }) => {
  if (data.module === undefined) postMessage('started');
  else serveStep(data);
};
