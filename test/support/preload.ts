import { afterAll, afterEach, beforeEach } from 'bun:test'
import { beginTest, endRun, endTest } from './world'

beforeEach(beginTest)
afterEach(endTest, 30_000)
afterAll(endRun, 60_000)
