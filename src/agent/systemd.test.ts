import { expect, test } from 'bun:test'
import { possiblePermissions } from './systemd'

test('without systemd, the agent can’t do what root does', () => {
  const allow = ['collect', 'update', 'reboot', 'firewall', 'wake', 'restart:nginx.service'] as const
  expect(possiblePermissions(allow, true)).toEqual([...allow])
  expect(possiblePermissions(allow, false)).toEqual(['collect', 'wake'])
})
