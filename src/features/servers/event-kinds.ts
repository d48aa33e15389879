import { Type } from '@sinclair/typebox'
import { Shape, Words } from '../../core/shapes'
import { coreKind, extensionKind } from '../../core/event-kinds'
import { Actor, At, IdOf, MaybeText, Named, Text, Texts } from '../../core/event-fields'

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
      reason: 'The agent has not reported since 2027-01-31T09:25:23.000Z.',
      changed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const

export const portKinds = [
  extensionKind({
    kind: 'port.opened',
    area: 'cloud',
    title: 'Port opened',
    description:
      'A program on a server started to listen on a public address, according to its agent. Ports that were closed less than a day ago are left out.',
    data: Shape({
      server: Named('srv', 'The server.'),
      socket: Shape(
        {
          protocol: Words(['tcp', 'udp'], { description: 'Protocol.' }),
          address: Text('Local address; `0.0.0.0` or `::` for all addresses.'),
          port: Type.Integer({ description: 'Port.' }),
          process: MaybeText('Name of the program; null if unknown.'),
          user: MaybeText('User who opened it; null if unknown.'),
        },
        { description: 'The socket.' },
      ),
      opened_at: At('When it was reported.'),
    }),
    example: {
      server: { id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', name: 'web-1' },
      socket: { protocol: 'tcp', address: '0.0.0.0', port: 8080, process: null, user: 'www-data' },
      opened_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const

export const servedCertificateKinds = [
  extensionKind({
    kind: 'server.certificate_not_served',
    area: 'cloud',
    title: 'Renewed certificate not served',
    description:
      'According to its agent, a certificate was renewed on a server, but a service still presents the previous one. Sent again, with the status `resolved`, when it no longer does.',
    data: Shape({
      server: Named('srv', 'The server.'),
      status: Words(['raised', 'resolved'], { description: 'Whether the previous certificate is presented, or no longer is.' }),
      port: Type.Integer({ description: 'TCP port of the service.' }),
      process: MaybeText('Name of the program; null if unknown.'),
      names: Texts('Server names for which the port presents the certificate.'),
      sha256: Text('SHA-256 of the previous certificate, in hexadecimal.'),
      file: MaybeText('Path of the file with the new certificate; null if resolved.'),
      observed_at: At('When it was reported.'),
    }),
    example: {
      server: { id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', name: 'web-1' },
      status: 'raised',
      port: 443,
      process: 'nginx',
      names: ['shop.example.com'],
      sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      file: '/etc/letsencrypt/live/shop.example.com/fullchain.pem',
      observed_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const

export const firewallKinds = [
  extensionKind({
    kind: 'firewall.reverted',
    area: 'cloud',
    title: 'Firewall rules restored',
    description: 'A change to the rules of a firewall was reverted: the previous rules were restored.',
    data: Shape({
      firewall: Named('fw', 'The firewall.'),
      servers: Type.Array(Named('srv', 'A server.'), { description: 'Servers that have the firewall.' }),
      reason: Words(['expired', 'requested', 'failed'], {
        description:
          '`expired`: the change was not confirmed in time. `requested`: someone reverted it. `failed`: it could not be applied.',
      }),
      rules_version: Type.Integer({ description: 'Version of the rules that was reverted.' }),
      restored_version: Type.Integer({ description: 'Version of the rules that was restored.' }),
      changed_by: Actor('Who made the change.'),
      reverted_at: At('When the previous rules were restored.'),
    }),
    example: {
      firewall: { id: 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c', name: 'web' },
      servers: [{ id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', name: 'web-1' }],
      reason: 'expired',
      rules_version: 8,
      restored_version: 7,
      changed_by: { type: 'user', id: 'usr_01k3zb7m9n1p3q5r7s9t1v3w5x', name: 'Alice' },
      reverted_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const
