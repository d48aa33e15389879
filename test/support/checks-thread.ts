import { runChecks } from '../../src/checks/engine/thread'
import { noFacts } from '../../src/checks/check'
import { typeOf } from './engine'

// The check thread with a type that does what its target says.
const scripted = typeOf(async (target, _, context) => {
  if (target.endsWith('.test')) {
    try {
      await context.vet(target, 443)
    } catch (error) {
      return { ...noFacts(), error: { kind: 'dns', message: (error as Error).message } }
    }
  }
  if (target === 'die') process.exit(1)
  if (target === 'hang') for (;;);
  return { ...noFacts(), connected: true }
})

runChecks(() => scripted)
