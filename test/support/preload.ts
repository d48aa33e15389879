import { afterAll, afterEach, beforeEach } from 'bun:test'
import { beginTest, endRun, endTest } from './world'

beforeEach(beginTest)
afterEach(endTest, 60_000)
afterAll(endRun, 60_000)
