import { programFolder, programLink } from '../install/places'

/** Where the halves of the agent exchange commands and results, and where the root half keeps its state. */
export interface RootFolders {
  /** Commands, which the agent writes as `cmd_….json`. */
  orders: string
  /** Results. Only root writes there, so that nobody can let it write elsewhere. */
  results: string
  /** What is gone after a restart. */
  runtime: string
  /** What stays. */
  state: string
  /** File with the SMART data of the disks. */
  disks: string
  /** File with the certificates that root can read. */
  certificates: string
  /** File with the names of programs that have sockets open, which only root can see. */
  processes: string
  /** File that the agent creates to have certificates and sockets read again. */
  certificatesWanted: string
  /** Version that the agent has downloaded. It can change the file at any time. */
  download: string
  /** Where the versions of the program are, and the link to the current one. */
  programs: { folder: string; link: string }
}

/** The folders that belong to those of the agent. */
export const rootFolders = ({ runtimeFolder, stateFolder }: { runtimeFolder: string; stateFolder: string }): RootFolders => ({
  orders: `${runtimeFolder}/orders`,
  results: `${runtimeFolder}-root/results`,
  runtime: `${runtimeFolder}-root`,
  state: `${stateFolder}-root`,
  disks: `${stateFolder}-root/disks.json`,
  certificates: `${stateFolder}-root/certificates.json`,
  processes: `${stateFolder}-root/processes.json`,
  certificatesWanted: `${runtimeFolder}/certificates-wanted`,
  download: `${stateFolder}/download`,
  programs: { folder: programFolder, link: programLink },
})

/** File with the SHA-256 of what is being downloaded. */
export const digestFile = (download: string): string => `${download}.sha256`

/** The log of the root half. The agent has its own, in a folder that it can write to. */
export const rootLogFile = '/var/log/bailiwick-agent-root/commands.log'
/** The log of what the root half refused. */
export const rootRefusedFile = '/var/log/bailiwick-agent-root/refused.log'

/** What the agent hands to the root half, which verifies it itself. */
export interface Order {
  payload: string
  signature: string
  /** Time of the hub minus time of the server (ms), as the agent measured it. */
  clock_offset_ms: number
}

/** The root half accepts offsets up to this: the agent must not be able to make commands valid that expired long ago. */
export const maxOrderOffsetMs = 600_000
