import { expect, test } from 'bun:test'
import type { OverviewView } from '../../../features/overview/shapes'
import { issuesOf } from './issues'

const error = { at: '2026-11-21T10:00:00.000Z', code: 'rejected', detail: 'The mail server rejected the sender.' }
const mail = {
  id: 'chan_1',
  name: 'Mail',
  status: 'enabled',
  disabled_reason: null,
  last_error: error,
  failing_since_at: error.at,
}

test('failing channels are named with their error, and those that are not loaded are counted', () => {
  const overview = { channels: { total: 5, disabled: 0, failing: 2 } } as OverviewView
  expect(issuesOf(overview, [mail as never]).map(({ title, reason, to }) => [title, reason, to])).toEqual([
    ['Channel Mail', 'The mail server rejected the sender.', '/channels/chan_1'],
    ['1 notification channel is failing', 'The last attempt to send a message failed.', '/channels'],
  ])
})
