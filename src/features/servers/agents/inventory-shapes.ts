import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Nullable, NullableInstant, Shape } from '../../../core/shapes'
import { AgentReport } from '../../../wire/agent'
import { packageLimits } from '../../../wire/agent-limits'
import type { PartName } from './tables'

const { containers, units, disks, arrays, sockets, mounts, sessions, processes, packages, problems } = AgentReport.properties
const { path, source, type } = mounts.items.properties
const { user, terminal, from } = sessions.items.properties

/** A part of the inventory. @param what what its items are, in the plural */
const part = <T extends TSchema>(items: T, what: string) =>
  Shape(
    {
      items: Nullable(Type.Array(items), { description: `${what} Null if unknown.` }),
      reported_at: NullableInstant({
        description:
          'When the agent last sent this part, which it does when something has changed. It was still the same at `observed_at`. Null if the agent never did.',
      }),
      reason: Nullable(Type.String(), { description: 'Why there are no items; null if there are some.' }),
    },
    { description: what },
  )

const parts = {
  containers: part(Shape(containers.items.properties, { $id: 'ServerContainer', description: 'A container.' }), 'Containers.'),
  units: part(
    Shape(units.items.properties, { $id: 'ServerUnit', description: 'A unit of systemd.' }),
    'systemd units that have failed, and those that the agent was set to watch.',
  ),
  disks: part(
    Shape(disks.items.properties, { $id: 'ServerDisk', description: 'A disk, according to its SMART data.' }),
    'Disks, according to their SMART data.',
  ),
  arrays: part(
    Shape(arrays.items.properties, { $id: 'ServerDiskArray', description: 'A disk array.' }),
    'Disk arrays: Linux software RAID and ZFS pools.',
  ),
  sockets: part(
    Shape(sockets.items.properties, { $id: 'ServerSocket', description: 'A listening socket.' }),
    'Sockets that listen for TCP connections or UDP datagrams.',
  ),
  mounts: part(
    Shape(
      {
        ...{ path, source, type },
        hours_left: Nullable(Type.Number(), {
          description:
            'Hours until it is full if it continues to fill as during the last 24 hours. Null if it isn’t filling, takes longer than a year, or was measured for less than six hours.',
        }),
      },
      { $id: 'ServerMount', description: 'A mounted file system.' },
    ),
    'Mounted file systems that store data.',
  ),
  sessions: part(
    Shape(
      {
        ...{ user, terminal, from },
        since_at: NullableInstant({ description: 'When it started. Null if unknown.' }),
      },
      { $id: 'ServerSession', description: 'A user who is logged in.' },
    ),
    'Users who are logged in.',
  ),
  processes: part(
    Shape(processes.items.properties, { $id: 'ServerProcesses', description: 'How many processes a program has.' }),
    'Processes that the agent was set to count.',
  ),
  problems: part(problems.items, 'What could not be measured, and why.'),
} satisfies Record<PartName, TSchema>

const at = '2026-11-27T10:05:00.000Z'

export const ServerInventory = Shape(
  {
    agent_id: Nullable(Type.String(), { description: 'ID of the agent that reports it; null if the server has none.' }),
    observed_at: NullableInstant({ description: 'When the last report of the agent was stored; null if none was.' }),
    stale: Type.Boolean({ description: 'Whether the agent no longer reports, so that all of it may be outdated.' }),
    ...parts,
  },
  {
    $id: 'ServerInventory',
    description: 'What the agent of a server last reported, except metrics and facts.',
    examples: [
      {
        agent_id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km',
        observed_at: at,
        stale: false,
        containers: {
          items: [
            { name: 'shop', image: 'shop:1.4', state: 'running', health: 'healthy', restarts: 0, exit_code: null },
            { name: 'import', image: 'shop:1.4', state: 'exited', health: null, restarts: 3, exit_code: 1 },
          ],
          reported_at: '2026-11-27T09:58:00.000Z',
          reason: null,
        },
        units: {
          items: [{ name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: true }],
          reported_at: '2026-11-27T10:01:00.000Z',
          reason: null,
        },
        disks: {
          items: [
            {
              ...{ device: '/dev/sda', model: 'WDC WD40EFRX', serial: 'WD-WCC4E1234567', failing: true },
              ...{ warnings: ['8 sectors wait to be reallocated.'], error: null },
            },
          ],
          reported_at: '2026-11-27T06:00:00.000Z',
          reason: null,
        },
        arrays: {
          items: [{ name: 'md0', kind: 'md' as const, state: 'active', degraded: true }],
          reported_at: '2026-11-27T06:12:00.000Z',
          reason: null,
        },
        sockets: {
          items: [
            { protocol: 'tcp' as const, address: '0.0.0.0', port: 22, process: null, user: 'root' },
            { protocol: 'tcp' as const, address: '127.0.0.1', port: 5432, process: null, user: 'postgres' },
          ],
          reported_at: '2026-11-26T08:00:00.000Z',
          reason: null,
        },
        mounts: {
          items: [{ path: '/', source: '/dev/sda1', type: 'ext4', hours_left: 31.5 }],
          reported_at: '2026-11-26T08:00:00.000Z',
          reason: null,
        },
        sessions: {
          items: [{ user: 'alice', terminal: 'pts/0', from: '192.0.2.7', since_at: '2026-11-27T09:30:00.000Z' }],
          reported_at: '2026-11-27T09:30:40.000Z',
          reason: null,
        },
        processes: {
          items: [{ name: 'nginx', count: 3 }],
          reported_at: '2026-11-27T09:30:40.000Z',
          reason: null,
        },
        problems: {
          items: [],
          reported_at: '2026-11-26T08:00:00.000Z',
          reason: 'The agent could read everything that it reports.',
        },
      },
    ],
  },
)
export type ServerInventoryView = Static<typeof ServerInventory>

export const ServerPackages = Shape(
  {
    agent_id: Nullable(Type.String(), { description: 'ID of the agent that reports them; null if the server has none.' }),
    observed_at: NullableInstant({ description: 'When the last report of the agent was stored; null if none was.' }),
    stale: Type.Boolean({ description: 'Whether the agent no longer reports, so that all of it may be outdated.' }),
    reported_at: NullableInstant({
      description:
        'When the agent last sent its packages, which it does when some have changed. They were still the same at `observed_at`. Null if the agent never did.',
    }),
    reason: Nullable(Type.String(), { description: 'Why no packages are known; null if some are.' }),
    total: Type.Integer({ description: 'Number of installed packages, also of those that the search leaves out.' }),
    packages: Type.Array(Shape(packages.items.properties, { $id: 'ServerPackage', description: 'An installed package.' }), {
      description: `Packages by name, at most ${packageLimits.packages.toLocaleString('en')}.`,
    }),
  },
  {
    $id: 'ServerPackages',
    description: 'The packages that are installed on a server.',
    examples: [
      {
        ...{ agent_id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km', observed_at: at, stale: false },
        ...{ reported_at: '2026-11-26T06:12:00.000Z', reason: null, total: 412 },
        packages: [
          { name: 'libssl3', version: '3.0.15-1~deb12u1' },
          { name: 'openssl', version: '3.0.15-1~deb12u1' },
        ],
      },
    ],
  },
)
export type ServerPackagesView = Static<typeof ServerPackages>
