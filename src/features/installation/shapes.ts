import { Type, type Static } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape, Words } from '../../core/shapes'

/** What a problem is about. */
const problemSubjects = ['health', 'disk', 'backup', 'jobs', 'mail', 'keys', 'hubs', 'certificate'] as const

const Bytes = (description: string) => Type.Integer({ minimum: 0, description })
const Count = (description: string) => Type.Integer({ minimum: 0, description: `${description} Counted up to 10,000.` })

const InstallationProblem = Shape({
  subject: Words(problemSubjects, { description: 'What the problem is about.' }),
  severity: Words(['critical', 'warning', 'info'], {
    description: '`critical`: the hub doesn’t work properly. `warning`: it soon won’t, or data could be lost.',
  }),
  text: Type.String({ description: 'What is wrong, and what to do.' }),
  help: Type.String({ description: 'Handbook page that explains it.' }),
})

const InstallationHub = Shape({
  id: Type.String({ description: 'ID of the process, new at each start.' }),
  host: Type.String({ description: 'Name of the machine.' }),
  version: Type.String({ description: 'Version of Bailiwick.' }),
  running: Type.Boolean({ description: 'Whether it is running.' }),
  current: Type.Boolean({ description: 'Whether it is the hub that sent this response.' }),
  started_at: Instant({ description: 'When it was started.' }),
  last_seen_at: Instant({ description: 'When it last reported that it is running.' }),
})

const FailedJobs = Shape({
  kind: Type.String({ description: 'Kind of job.' }),
  count: Type.Integer({ minimum: 1, description: 'Number of these jobs. At most 1,000 failed jobs of all kinds are counted.' }),
  last_error: Type.String({ description: 'Error of one of them.' }),
})

export const Installation = Shape(
  {
    build: Shape(
      {
        version: Type.String({ description: 'Version of Bailiwick.' }),
        runtime: Type.String({ description: 'Runtime, operating system, and processor architecture.' }),
      },
      { description: 'The program of the hub that sent the response.' },
    ),
    created_at: Instant({ description: 'When the installation was created.' }),
    problems: Type.Array(InstallationProblem, { description: 'Problems, most severe first.' }),
    hubs: Type.Array(InstallationHub, { description: 'Hubs that are running or were stopped in the last day. At most 100.' }),
    database: Shape(
      {
        engine: Words(['sqlite', 'postgres'], { description: 'Database engine.' }),
        version: Type.String({ description: 'Version of the engine.' }),
        size_bytes: Bytes('Size of the database, including check results.'),
        log_bytes: Nullable(Bytes('Size.'), {
          description: 'SQLite: size of the write-ahead log, which is regularly moved to the database file. Null on PostgreSQL.',
        }),
      },
      { description: 'The database.' },
    ),
    disk: Shape(
      {
        folder: Type.String({ description: 'The data folder.' }),
        free_bytes: Bytes('Free space.'),
        total_bytes: Bytes('Size of the disk.'),
      },
      { description: 'The disk of the data folder of this hub.' },
    ),
    jobs: Shape(
      {
        waiting: Count('Number of jobs that are waiting, including those scheduled for later.'),
        due: Count('Number of waiting jobs that are due.'),
        running: Count('Number of jobs in progress.'),
        oldest_due_at: NullableInstant({ description: 'When the oldest waiting job was due. Null if none is due.' }),
        failed: Type.Array(FailedJobs, { description: 'Jobs that failed permanently in the last 30 days, by kind.' }),
      },
      { description: 'Background jobs of all hubs.' },
    ),
    mail: Shape(
      {
        configured: Type.Boolean({ description: 'Whether the installation can send email.' }),
        server: Nullable(Type.String(), { description: 'Mail server. Null if none is configured.' }),
        from: Nullable(Type.String(), { description: 'Sender address. Null if none is configured.' }),
        last_attempt_at: NullableInstant({
          description: 'When the installation last tried to send an invitation or a password reset. Null if never.',
        }),
        last_error: Nullable(Type.String(), { description: 'Error of that attempt. Null if it was sent.' }),
      },
      { description: 'Email sent by the installation itself.' },
    ),
    backup: Shape(
      {
        last_at: NullableInstant({ description: 'When the last backup was made with `bailiwick backup`. Null if never.' }),
        form: Nullable(Words(['physical', 'logical']), {
          description:
            'Form of the last backup. `physical`: a copy of the SQLite file. `logical`: the rows of each table, which can be restored into SQLite or PostgreSQL. Null if there is no backup.',
        }),
        size_bytes: Nullable(Bytes('Size.'), { description: 'Size of its file. Null if there is none.' }),
        with_series: Type.Boolean({ description: 'Whether it includes check results.' }),
      },
      { description: 'The last backup.' },
    ),
    keys: Shape(
      {
        master_key_id: Type.String({ description: 'Fingerprint of the master key that this hub uses.' }),
        required_key_id: Type.String({
          description:
            'Fingerprint of the master key that the database requires. It can differ from `master_key_id` during a rotation of the master key.',
        }),
        rotating: Type.Boolean({ description: 'Whether a rotation of the master key is not completed.' }),
      },
      { description: 'The master key. Whether you have a copy of the key file is not known.' },
    ),
    metrics_token_configured: Type.Boolean({ description: 'Whether `/metrics` can be read from other machines, with a token.' }),
  },
  {
    $id: 'Installation',
    description: 'The state of the installation: its hubs, database, disk, jobs, mail server, backups, and keys.',
    examples: [
      {
        build: { version: '0.1.0', runtime: 'Bun 1.4.5 on linux x64' },
        created_at: '2026-11-01T10:00:00.000Z',
        problems: [
          {
            subject: 'backup',
            severity: 'warning',
            text: 'No backup has been made. Run bailiwick backup, and schedule it to run every night. Ignore this if you back up with other tools.',
            help: '/docs/backups',
          },
        ],
        hubs: [
          {
            id: 'hub_01jd8f3q7eeb9bv0w0r8c7hq2m',
            host: 'ns1',
            version: '0.1.0',
            running: true,
            current: true,
            started_at: '2026-11-21T10:00:00.000Z',
            last_seen_at: '2026-11-26T10:00:00.000Z',
          },
        ],
        database: { engine: 'sqlite', version: '3.51.0', size_bytes: 12_582_912, log_bytes: 4_128_272 },
        disk: { folder: '/var/lib/bailiwick', free_bytes: 21_474_836_480, total_bytes: 42_949_672_960 },
        jobs: { waiting: 3, due: 0, running: 1, oldest_due_at: null, failed: [] },
        mail: {
          configured: true,
          server: 'mail.example.com',
          from: 'Bailiwick <hub@example.com>',
          last_attempt_at: '2026-11-25T10:00:00.000Z',
          last_error: null,
        },
        backup: { last_at: null, form: null, size_bytes: null, with_series: false },
        keys: { master_key_id: '9f86d081884c7d65', required_key_id: '9f86d081884c7d65', rotating: false },
        metrics_token_configured: false,
      },
    ],
  },
)
export type InstallationView = Static<typeof Installation>
export type InstallationProblemView = InstallationView['problems'][number]
