import { runCheckpoints } from '../core/db/checkpoint-thread'

runCheckpoints()
