import type { AccountCheck, AdapterKind, Pace } from '../../../adapters/adapter'
import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import type { Settings } from '../../../core/sealed-settings'
import type { PlainRule, RuleProtocol } from '../firewalls/rules'
import type { LabelChange } from './label-change'

export type { AdapterContext }

/** What can be done to a server at a cloud. `provision` creates it. */
export const serverVerbs = [
  'provision',
  'power_on',
  'power_off',
  'shutdown',
  'reboot',
  'power_cycle',
  'suspend',
  'resume',
  'rename',
  'resize',
  'rebuild',
  'set_protection',
  'enable_rescue',
  'disable_rescue',
  'enable_backups',
  'disable_backups',
  'delete',
  'snapshot',
  'restore_snapshot',
  'set_labels',
  'restart_unit',
  'collect',
  'update_agent',
] as const

/** Verbs that follow from changes of a server. They are not offered as actions. */
export const internalVerbs: readonly ServerVerb[] = ['set_labels']
export type ServerVerb = (typeof serverVerbs)[number]

/** What a server is doing, as far as clouds tell. `unknown`: a status that this version doesn't know. */
export const cloudStatuses = [
  'provisioning',
  'starting',
  'running',
  'stopping',
  'off',
  'rebooting',
  'suspended',
  'rebuilding',
  'resizing',
  'restoring',
  'migrating',
  'deleting',
  'error',
  'unknown',
] as const
export type CloudStatus = (typeof cloudStatuses)[number]

/** Compute resources; null if the cloud doesn't report it. */
export interface Resources {
  cores: number | null
  memoryBytes: number | null
  diskBytes: number | null
}

export interface ServerAddress {
  /** Canonical text form, without a prefix length. */
  address: string
  family: 4 | 6
  scope: 'public' | 'private'
  /** Reverse DNS name, if the cloud manages it. */
  ptr: string | null
}

/** Which changes the cloud refuses until the protection is removed. */
interface Protection {
  delete: boolean
  rebuild: boolean
}

/** A server as a cloud reports it. */
export interface CloudServer {
  /** Identifies it within the account for as long as it exists, whatever it is renamed to. Where the name is the only id, the name. */
  ref: string
  /**
   * Stays the same as long as the server exists, and differs for another server with the same ref. Null if the cloud never uses a ref
   * again, or if it can't be read now.
   */
  identity: string | null
  name: string
  kind: 'vm' | 'container'
  status: CloudStatus
  /** The status in the cloud's own words. */
  statusText: string
  power: 'on' | 'off' | 'unknown'
  /** Slug of a location of the catalog; null if the cloud has none. */
  location: string | null
  /** Slug of the size in the catalog; null if sizes are free. */
  size: string | null
  resources: Resources
  /** Slug or ref of the image it was created from; null if unknown. */
  image: string | null
  /** Public addresses first. */
  addresses: ServerAddress[]
  labels: Record<string, string>
  protection: Protection
  /** Whether the cloud creates backups of it; null if the cloud has none. */
  backups: boolean | null
  /** Id of the server that it was created for ({@link ServerOrder.mark}); null if Bailiwick didn't create it. */
  mark: string | null
}

/** What a running server uses; null if the cloud doesn't report it. */
export interface ServerUsage {
  /** CPU time since it was started, in seconds, and the number of cores it can use; or what all its cores together are used, in percent. */
  cpu: { seconds: number; cores: number } | { percent: number } | null
  memoryBytes: number | null
  /** Bytes since it was started, over all interfaces and disks. */
  received: number | null
  sent: number | null
  read: number | null
  written: number | null
}

/** Metrics that clouds keep themselves. */
export type CloudMetric =
  | 'cpu.used_percent'
  | 'disk.read_bytes_per_second'
  | 'disk.write_bytes_per_second'
  | 'disk.read_operations_per_second'
  | 'disk.write_operations_per_second'
  | 'network.received_bytes_per_second'
  | 'network.sent_bytes_per_second'
  | 'network.received_packets_per_second'
  | 'network.sent_packets_per_second'

/** Values of a metric that a cloud keeps, by time (ms UTC). */
export interface CloudSeries {
  metric: CloudMetric
  points: [at: number, value: number][]
}

/** All servers of an account at one moment. */
export interface Reading {
  servers: CloudServer[]
  /** What servers use, by ref; absent for kinds that keep this themselves ({@link Cloud.metricsOf}) or don't report it. */
  usage?: ReadonlyMap<string, ServerUsage>
  /** Verbs of the kind that this installation of the cloud lacks, such as an old version. */
  lacks: readonly ServerVerb[]
  /** The rate limit as the cloud reports it; null if it doesn't. `resetsAt`: ms UTC. */
  rate: { limit: number; remaining: number; resetsAt: number | null } | null
}

/** A size: one of the catalog, or free resources. */
export type SizeOrder = { slug: string } | { cores: number; memoryBytes: number; diskBytes: number }

/** A server to create. What a kind doesn't support was refused before, according to its capabilities. */
export interface ServerOrder {
  /** Id of our server, stored with the server at the cloud, so that it is found again. */
  mark: string
  /** Unique within the account. */
  name: string
  /** The reserved ref, for kinds with {@link Cloud.reserveRef}; else null. */
  ref: string | null
  location: string | null
  size: SizeOrder
  /** Slug or ref of an image of the catalog. */
  image: string
  /** OpenSSH public keys. */
  sshKeys: { name: string; publicKey: string }[]
  /** Cloud-init user data. */
  userData: string | null
  labels: Record<string, string>
  /** Refs of networks of the catalog. */
  networks: string[]
  /** Refs of volumes to attach; absent for none. */
  volumes?: string[]
  enableIpv4: boolean
  enableIpv6: boolean
  backups: boolean
  /** Whether to start it. */
  start: boolean
  /** Firewalls that it should have from its creation on, as far as the cloud can do that. They are set afterwards in any case. */
  firewalls?: readonly OrderedFirewall[]
}

/** A firewall of a new server. */
export type OrderedFirewall = Pick<CloudFirewall, 'id' | 'name' | 'rules'>

/** A verb with its parameters. */
export type ServerCommand =
  | { verb: 'provision'; order: ServerOrder }
  | {
      verb:
        | 'power_on'
        | 'power_off'
        | 'reboot'
        | 'power_cycle'
        | 'suspend'
        | 'resume'
        | 'enable_rescue'
        | 'disable_rescue'
        | 'enable_backups'
        | 'disable_backups'
        | 'delete'
    }
  /** `timeoutSeconds`: how long the guest may take. `thenForce`: whether it is switched off after that. */
  | { verb: 'shutdown'; timeoutSeconds: number; thenForce: boolean }
  | { verb: 'rename'; name: string }
  | { verb: 'resize'; size: SizeOrder; upgradeDisk: boolean }
  | { verb: 'rebuild'; image: string; userData: string | null }
  | { verb: 'set_protection'; protection: Protection }
  /** Creates the snapshot, unless one with its mark exists. */
  | { verb: 'snapshot'; order: SnapshotOrder }
  | { verb: 'restore_snapshot'; snapshotRef: string }
  /** `mark`: stored with them, where marks are labels. */
  | { verb: 'set_labels'; labels: LabelChange; mark: string }

/** A snapshot of a server to create. */
interface SnapshotOrder {
  /** Id of our snapshot, by which it is found again. Where snapshots have unique names, it is the name. */
  mark: string
  name: string
  includesMemory: boolean
  /** Stored with it, where snapshots have labels. */
  labels: Record<string, string>
}

/** A snapshot of a server as a cloud reports it. */
export interface CloudSnapshot {
  /** Identifies it within the account. */
  ref: string
  name: string
  /** Server that it was created from; null if unknown, or for a snapshot of a volume. */
  serverRef: string | null
  /** Volume that it was created from; null for a snapshot of a server. */
  volumeRef: string | null
  status: 'creating' | 'available'
  /** Space that it takes; null if the cloud doesn't report it. */
  sizeBytes: number | null
  includesMemory: boolean
  /** When it was created (ms UTC); null if unknown. */
  createdAt: number | null
  labels: Record<string, string>
  mark: string | null
}

/** A volume to create. */
export interface VolumeOrder {
  /** Id of our volume, stored with the volume at the cloud, so that it is found again. */
  mark: string
  /** Unique within the account. */
  name: string
  sizeBytes: number
  location: string | null
  /** One of {@link CloudCapabilities.volumes}; null for none. */
  format: string | null
  labels: Record<string, string>
}

/** A volume as a cloud reports it. */
export interface CloudVolume {
  /** Identifies it within the account. */
  ref: string
  name: string
  status: 'creating' | 'available'
  /** Server that it is attached to; null if it is attached to none. */
  serverRef: string | null
  location: string | null
  /** Null if it has no limit. */
  sizeBytes: number | null
  format: string | null
  /** Path of the device in the server; null if there is none. */
  device: string | null
  /** Where the cloud mounts it in the server; null if it doesn't. */
  mountPath: string | null
  labels: Record<string, string>
  /** Whether it is protected from deletion. */
  isProtected: boolean
  mark: string | null
}

/** A verb with its parameters. All of them look first, so that they can be repeated. */
export type VolumeCommand =
  | { verb: 'create'; order: VolumeOrder }
  /** `mountPath`: where the cloud mounts it, if it does. */
  | { verb: 'attach'; serverRef: string; mountPath: string | null }
  | { verb: 'resize'; sizeBytes: number }
  | { verb: 'set_protection'; isProtected: boolean }
  /**
   * `mark`: of the volume, where its ref changes with its name. `isMade`: whether it was created here, so that its mark is stored with the
   * labels, where marks are labels. `name`: null if it stays.
   */
  | { verb: 'update'; mark: string; isMade: boolean; name: string | null; labels: LabelChange }
  /** Only of a volume that is not attached. */
  | { verb: 'restore_snapshot'; snapshotRef: string }
  | { verb: 'detach' | 'delete' }

export type SnapshotCommand =
  /** Of a volume: those of servers are created by commands of their server. */
  { verb: 'create'; order: VolumeSnapshotOrder } | { verb: 'delete' } | { verb: 'set_labels'; labels: LabelChange; mark: string }

/** A snapshot of a volume to create. */
export interface VolumeSnapshotOrder {
  /** Id of our snapshot, by which it is found again. Where snapshots have unique names, it is the name. */
  mark: string
  name: string
  volumeRef: string
}

/** How much space a volume uses. */
export interface VolumeUsage {
  usedBytes: number
  /** Null if it has no limit. */
  sizeBytes: number | null
}

/** Volumes or snapshots of an opened account. Their operations are continued with {@link Cloud.poll}. All calls throw {@link CloudError}. */
export interface CloudStorage<Seen, Command> {
  /** Reads all of them; never returns a part. @throws CloudError `incomplete` */
  list(): Promise<Seen[]>
  /** Reads one; null if it doesn't exist, or no longer. */
  get(ref: string): Promise<Seen | null>
  /**
   * Finds the one that was created for an order: by its mark, otherwise by its name if names are unique.
   * @param serverRef of the server of a snapshot; null for a volume
   */
  find(order: { mark: string; name: string; volumeRef?: string }, serverRef: string | null): Promise<Seen | null>
  /** @param ref null to create one */
  start(ref: string | null, command: Command): Promise<Started>
  /** Reads how much space volumes use, by ref. Those for which the cloud doesn't tell are left out. Absent if it never does. */
  usage?(seen: readonly Seen[]): Promise<ReadonlyMap<string, VolumeUsage>>
}

/**
 * What the cloud is working on, to be continued with {@link Cloud.poll}, also by another process after a restart. A small JSON object
 * without secrets that only the kind of cloud reads.
 */
export type Operation = Readonly<Record<string, unknown>>

/** How a command began. `ref`: the server’s ref, if the command creates it or changes its ref. */
export type Started =
  | { state: 'running'; operation: Operation; ref?: string }
  /** `unchanged`: it was so already, and nothing was done. */
  | { state: 'done'; unchanged?: boolean; ref?: string }

/** How far an operation is. `gone`: the cloud has forgotten it, so only the state of the server tells how it ended. */
export type Polled =
  | {
      state: 'running'
      operation: Operation
      /** 0 to 100. */
      progress?: number
      detail?: string
      ref?: string
      /** After how many milliseconds to look again, if the cloud or its adapter knows that. */
      againMs?: number
    }
  | { state: 'done'; ref?: string }
  | { state: 'gone' }

/** An amount per month in millionths of the currency, including taxes. */
export interface Price {
  monthlyMicros: number
  /** ISO 4217. */
  currency: string
}

/** What an account offers. Slugs are what orders name. */
export interface Catalog {
  locations: { slug: string; title: string; country: string | null; city: string | null }[]
  /** Empty if sizes are free. */
  sizes: {
    slug: string
    title: string
    resources: Resources
    architecture: string | null
    /** Whether the cores are shared with other customers. */
    sharedCores: boolean
    /** When it can no longer be ordered (ms UTC); null if it isn't deprecated. */
    unavailableAfter: number | null
    /** Where it is offered. `available`: whether it is in stock. */
    offers: { location: string; price: Price | null; available: boolean }[]
    /** Where it can no longer be ordered: what servers that have it cost there. */
    pastOffers?: { location: string; price: Price | null }[]
  }[]
  images: {
    slug: string
    title: string
    /** Such as `debian`. */
    family: string | null
    architecture: string | null
    kind: 'system' | 'snapshot' | 'backup' | 'app' | 'template'
    /** Smallest disk that it fits on; null if unknown. */
    minDiskBytes: number | null
    /** Whether it can still be used but not for long. */
    isDeprecated: boolean
  }[]
  networks: { ref: string; title: string; cidrs: string[]; location: string | null }[]
  /** Prices in addition to the price of the size; absent if there are none. */
  extras?: {
    /** Of a public IPv4 address, by location. */
    ipv4: { location: string; price: Price }[]
    /** Of backups, in percent of the size. */
    backupPercent: number | null
    /** Of volumes and of snapshots, per GB: 2^30 bytes. */
    volumePerGb: Price | null
    snapshotPerGb: Price | null
  }
}

/** A firewall at a cloud: incoming packets that no rule of a server's firewalls allows are dropped. */
export interface CloudFirewall {
  /** Id of our firewall, stored with it at the cloud, so that it is found again. */
  id: string
  name: string
  rules: readonly PlainRule[]
  /** Refs of the servers that have it. */
  refs: readonly string[]
  /** Servers that should not have it anymore. All others are left as they are. */
  detach: readonly FirewallDetachment[]
  /** Refs of servers on which it had an effect. What keeps it from having one now, such as a snapshot that was restored, is undone. */
  effectiveOn?: readonly string[]
}

/** A server that a firewall is removed from. */
export interface FirewallDetachment {
  ref: string
  /** Whether it has other firewalls, so that it still drops what no rule allows, even if they have no rules. */
  hasOthers: boolean
}

/** A firewall as it is at the cloud. */
export interface FirewallReading extends Pick<CloudFirewall, 'id' | 'rules' | 'refs'> {
  /** Whether it has its mark. Without it, it was recognized by its name; setting it stores the mark again. */
  isMarked: boolean
  /** Directions whose default was changed: what happens to traffic that no rule is about. */
  changedDefaults: readonly PlainRule['direction'][]
}

/** How far a firewall is. */
export interface FirewallOutcome {
  /** `applying`: the cloud is working on it. Setting it again tells how far it is. */
  state: 'applied' | 'applying'
  /** Servers that can't have it, with the reason. */
  refused: { ref: string; detail: string }[]
  /** Settings of the cloud that keep it from working, by server. */
  warnings: { ref: string; detail: string }[]
  /** Servers that could not be reached, with the reason, so that they have what they had. Absent where there can be none. */
  unreached?: { ref: string; detail: string }[]
}

/** Capabilities of a kind, used to validate orders and to offer actions. */
export interface CloudCapabilities {
  verbs: readonly ServerVerb[]
  /** Names of servers: a regular expression and the rule in words, such as `must be …`. */
  names: { pattern: string; rule: string }
  /** Whether the cloud never has two servers with the same name, so that an order can be repeated without buying twice. */
  uniqueNames: boolean
  sizes: 'catalog' | 'free'
  /** Whether an order must name a location. */
  needsLocation: boolean
  /** Whether an order needs an SSH key, such as where the cloud would e-mail a root password instead. */
  sshKeys: 'required' | 'optional' | 'unsupported'
  userData: boolean
  networks: boolean
  /** Whether the addresses of a server can be chosen (`enable_ipv4`, `enable_ipv6`). */
  addressFamilies: boolean
  backups: boolean
  /** Which protections exist. */
  protection: readonly (keyof Protection)[]
  /** Statuses in which a server can be resized. */
  resizableIn: readonly CloudStatus[]
  rebuildableIn: readonly CloudStatus[]
  /** Whether servers cost money. */
  hasPrices: boolean
  /** Whether labels can be stored at the cloud. */
  labels: boolean
  /** Whether marks are labels, so that people remove them by mistake. They are stored again with the labels. */
  marksAreLabels: boolean
  /** Protocols that firewalls of the cloud can filter; empty if it has none. */
  firewallProtocols: readonly RuleProtocol[]
  /** Whether firewalls can block networks, so that rules of other firewalls don’t allow them. */
  firewallBlocks: boolean
  /** When new servers get firewalls: with their order, after their creation and before their start, or only once they run. */
  firewallsOfNew: 'ordered' | 'before_start' | 'running'
  /** Volumes; null if all disks stay with their server. */
  volumes: VolumeCapabilities | null
  /** Snapshots of servers; null if there are none. */
  snapshots: SnapshotCapabilities | null
}

/** What volumes of a kind can do. */
export interface VolumeCapabilities {
  names: { pattern: string; rule: string }
  minBytes: number
  maxBytes: number
  /** Sizes are multiples of this. */
  stepBytes: number
  /** File systems that it can be formatted with. */
  formats: readonly string[]
  /** Whether the cloud mounts it in the server, and unmounts it when it is detached. */
  isMounted: boolean
  /** Whether it can be protected from deletion. */
  protection: boolean
  /** Whether it can have snapshots. */
  snapshots: boolean
  /** Whether it can be renamed while it is attached. */
  renamedInUse: boolean
}

/** What snapshots of a kind can do. */
interface SnapshotCapabilities {
  /** Whether they can include the memory of a running server. */
  memory: boolean
  /** Whether they remain when their server is deleted. */
  surviveServer: boolean
  /** Whether labels can be stored with them at the cloud. */
  labels: boolean
}

/** An opened cloud account. All calls throw {@link CloudError}; messages never contain secrets. */
export interface Cloud {
  /** Checks that the cloud can be reached and accepts the credentials, without changing anything. */
  check(): Promise<AccountCheck>
  /** Reads all servers; never returns a part of them. @throws CloudError `incomplete` */
  list(): Promise<Reading>
  /** Reads one server; null if it doesn't exist, or no longer. */
  get(ref: string): Promise<CloudServer | null>
  /** Like {@link get} for each ref. Absent if that takes as many requests. */
  getMany?(refs: readonly string[]): Promise<(CloudServer | null)[]>
  /**
   * Finds the server that was created for an order: by its mark, whatever its name is now, otherwise by its name or reserved ref. The
   * caller compares {@link CloudServer.mark} to find out whether the name or ref is taken by another server.
   */
  find(order: Pick<ServerOrder, 'mark' | 'name' | 'ref'>): Promise<CloudServer | null>
  /**
   * Reads what a server used between two times (ms UTC), where the cloud keeps that; absent if readings have it.
   * @param cores number of its cores, so that all of them together are 100 percent
   */
  metricsOf?(ref: string, cores: number, from: number, until: number, stepSeconds: number): Promise<CloudSeries[]>
  catalog(): Promise<Catalog>
  /**
   * Reads current prices, with fewer requests than the catalog.
   * @param size slug of a size; null for only the prices that don't depend on one. The result has null if there is no such size
   */
  prices?(size: string | null): Promise<{ size: Catalog['sizes'][number] | null; extras: Catalog['extras'] }>
  /** Proposes an unused ref, where the cloud wants the caller to choose it. It can be taken by others until it is used. */
  reserveRef?(): Promise<string>
  /**
   * Starts a command. Every command but `provision`, `reboot`, `power_cycle`, `rebuild`, and `restore_snapshot` can be repeated safely.
   * @param ref null for `provision`
   * @throws CloudError; `ambiguous` if it may have been carried out
   */
  start(ref: string | null, command: ServerCommand): Promise<Started>
  /**
   * Continues the creation of a server that {@link Cloud.find} found by its mark: what was started may have been interrupted between two
   * steps. Absent if the cloud does everything by itself, so that the status tells how far it is. Can be repeated safely.
   */
  continueProvision?(ref: string, order: ServerOrder): Promise<Started>
  /**
   * Snapshots of the same server or volume that are newer than one, where its storage can only restore the newest snapshot; null where it
   * can restore all. Absent for kinds whose storage always can.
   */
  newerSnapshots?(snapshotRef: string): Promise<CloudSnapshot[] | null>
  /** Looks how far an operation is, and takes its next step if it has several; that step can be repeated safely. @throws CloudError if it failed */
  poll(operation: Operation): Promise<Polled>
  /**
   * Finds the operation of a command whose response was lost; absent if the cloud doesn't list operations. Null if there is none, so that
   * the command was not carried out.
   * @param since ms UTC
   */
  findOperation?(ref: string, verb: ServerVerb, since: number): Promise<Operation | null>
  /** Absent for kinds without volumes. */
  volumes?: CloudStorage<CloudVolume, VolumeCommand>
  /** Absent for kinds without snapshots. They are created and restored by commands of their server. */
  snapshots?: CloudStorage<CloudSnapshot, SnapshotCommand>
  /**
   * Makes a firewall exactly so, and creates it if it doesn't exist. Can be repeated safely. What the rules before and these both allow is
   * never dropped meanwhile. Other firewalls of the servers stay. Absent for kinds without firewalls, as are the following.
   */
  setFirewall?(firewall: CloudFirewall): Promise<FirewallOutcome>
  /** Removes a firewall from servers, and deletes it if no others have it. Can be repeated safely. */
  removeFirewall?(id: string, detach: readonly FirewallDetachment[]): Promise<Pick<FirewallOutcome, 'state' | 'unreached'>>
  /**
   * Reads firewalls, as far as they exist. A firewall can have several entries, if servers can differ. `unread` are refs of servers that
   * could not be read, so that nothing is known about them.
   */
  readFirewalls?(
    firewalls: readonly Pick<CloudFirewall, 'id' | 'refs'>[],
  ): Promise<{ firewalls: FirewallReading[]; unread: readonly string[] }>
  /** What rules look like in {@link readFirewalls}. */
  firewallRules?(rules: readonly PlainRule[]): PlainRule[]
}

/** Reasons why a call to a cloud failed. */
export const cloudFailures = [
  'unreachable',
  'timeout',
  'unauthorized',
  'throttled',
  'refused',
  'incomplete',
  'invalid_response',
  // The server, image, size or location doesn't exist.
  'not_found',
  // The name or ref is taken.
  'already_exists',
  // Another operation works on it. A retry can succeed.
  'locked',
  'protected',
  'quota',
  'out_of_stock',
  // The cloud doesn't accept a value.
  'invalid',
] as const
export type CloudFailure = (typeof cloudFailures)[number]

/** A failed call to a cloud. */
export const CloudError = AdapterError<CloudFailure>
export type CloudError = AdapterError<CloudFailure>

/** A kind of cloud, with its settings. */
export interface CloudKind<S = any> extends AdapterKind {
  capabilities: CloudCapabilities
  /** Interval between two readings. */
  syncSeconds: number
  /** Rate at which requests are sent; absent if there is no limit. */
  pace?: Pace
  validate?(settings: S): void
  /**
   * Exchanges what was entered for what is stored, such as a one-time token for a certificate; null if there is nothing to exchange. Called
   * before the first check. Can run again if its result was not stored.
   * @returns settings to replace; null removes one
   * @throws CloudError
   */
  join?(settings: S, around: AdapterContext): Promise<Settings | null>
  /** Computes the price of an order; null if it is not known. Absent for kinds without prices. */
  price?(catalog: Catalog, order: Pick<ServerOrder, 'size' | 'location' | 'enableIpv4' | 'backups'>): Price | null
  open(settings: S, around: AdapterContext): Cloud
}
