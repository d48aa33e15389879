import { runChecks } from '../../src/checks/engine/thread'
import { noFacts } from '../../src/checks/check'
import { typeOf } from './engine'

// The thread of checks with a type that does as its target says.
const obeying = typeOf(async target => {
  if (target === 'die') process.exit(1)
  if (target === 'hang') for (;;);
  return { ...noFacts(), connected: true }
})

runChecks(() => obeying)
