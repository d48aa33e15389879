import { expect, test } from 'bun:test'
import { failureOf, taskFailure } from './failures'

test.each<[status: number, text: string, failure: string | undefined, ambiguous: boolean | null | undefined]>([
  [500, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout", 'locked', false],
  [500, 'VM is locked (clone)', 'locked', false],
  [500, 'cluster not ready - no quorum?', 'locked', false],
  [500, "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist", 'not_found', false],
  [500, "unable to create VM 100 - VM 100 already exists on node 'pve1'", 'already_exists', false],
  [500, 'unable to create VM 100: config file already exists', 'already_exists', false],
  [500, "can't remove VM 100 - protection mode enabled", 'protected', false],
  [500, 'lvcreate: not enough free space', 'quota', false],
  [500, 'VM quit/powerdown failed - got timeout', 'timeout', true],
  [500, "can't clone VM to node 'pve2' (VM uses local storage)", 'invalid', false],
  [500, 'VM 100 not running', 'refused', false],
  [500, 'Internal Server Error', undefined, undefined],
  [500, '', undefined, undefined],
  [400, 'Parameter verification failed. name: invalid format', 'invalid', false],
  [401, 'invalid token value!', 'unauthorized', false],
  [403, 'Permission check failed (/vms/100, VM.PowerMgmt)', 'unauthorized', false],
  [501, "Method 'GET /x' not implemented", 'refused', false],
  [595, 'No route to host', 'unreachable', false],
  [596, 'Connection timed out', 'unreachable', true],
  [502, 'Bad Gateway', undefined, undefined],
])('%d “%s”', (status, text, failure, ambiguous) => {
  const found = failureOf(status, text)
  expect([found?.failure, found?.ambiguous] as unknown[]).toEqual([failure, ambiguous])
})

test('a task that failed is over', () => {
  expect(taskFailure('VM quit/powerdown failed - got timeout')).toMatchObject({ failure: 'refused', ambiguous: false })
  expect(taskFailure('start failed: QEMU exited with code 1')).toMatchObject({ failure: 'refused', ambiguous: false })
})
