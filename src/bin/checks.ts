import { runChecks } from '../checks/engine/thread'

runChecks()
