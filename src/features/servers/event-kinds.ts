import { Type } from '@sinclair/typebox'
import { Shape, Words } from '../../core/shapes'
import { coreKind } from '../../core/event-kinds'
import { At, IdOf, MaybeText, Text, Texts } from '../../core/event-fields'

export const serverKinds = [
  coreKind({
    kind: 'server.status_changed',
    area: 'cloud',
    title: 'Server status changed',
    description: 'A server went up or down, according to its agent, monitors, or cloud provider.',
    data: Shape({
      server: Shape(
        {
          id: IdOf('srv', 'ID of the server.'),
          name: Text('Name of the server.'),
          kind: Words(['vm', 'container', 'bare_metal', 'external'], { description: 'Kind of server.' }),
          location: MaybeText('Location, as named by the cloud provider; null if unknown.'),
          addresses: Texts('IP addresses, public ones first.'),
          labels: Type.Record(Type.String(), Type.String(), { description: 'Labels of the server.' }),
        },
        { description: 'The server.' },
      ),
      status: Words(['up', 'down'], { description: 'Current status.' }),
      previous_status: Words(['up', 'down', 'unknown'], { description: 'Previous status; `unknown` for the first event.' }),
      power: Words(['on', 'off', 'unknown'], { description: 'Power state, if reported by the cloud provider or controller.' }),
      source: Words(['agent', 'monitor', 'cloud', 'action'], {
        description: 'What reported the change; `action`: the server was switched on or off in Bailiwick.',
      }),
      reason: Text('Human-readable reason.'),
      changed_at: At('When the status changed.'),
    }),
    example: {
      server: {
        id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
        name: 'web-1',
        kind: 'vm',
        location: 'fsn1',
        addresses: ['192.0.2.20', '2001:db8::20'],
        labels: { role: 'web' },
      },
      status: 'down',
      previous_status: 'up',
      power: 'on',
      source: 'agent',
      reason: 'The agent has not reported for 90 seconds.',
      changed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const
