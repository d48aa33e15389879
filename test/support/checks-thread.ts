import { runChecks } from '../../src/checks/engine/thread'
import { noFacts } from '../../src/checks/check'
import { typeOf } from './engine'

// The thread of checks with a type that does as its target says.
const obeying = typeOf(async (target, _, around) => {
  if (target.endsWith('.test')) {
    try {
      await around.vet(target, 443)
    } catch (error) {
      return { ...noFacts(), error: { kind: 'dns', message: (error as Error).message } }
    }
  }
  if (target === 'die') process.exit(1)
  if (target === 'hang') for (;;);
  return { ...noFacts(), connected: true }
})

runChecks(() => obeying)
