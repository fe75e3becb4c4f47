// A thread of the pool: takes part in the steps that it is sent, one after another.
import { serveStep } from './thread_pool.js';

onmessage = ({ data }) => {
  if (data.module === undefined) postMessage('started');
  else serveStep(data);
};
