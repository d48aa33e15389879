import { addChangeHint } from '../../../core/change-hints'
import type { Tx } from '../../../core/db/transaction'
import type { AnyAgentRow } from './rows'

/** Lets clients that stream changes know of an agent that changed by itself, or reported what changed on its server. @param id `*` for several agents */
export const touchAgent = (tx: Tx, { workspaceId, id, serverId }: Pick<AnyAgentRow, 'workspaceId' | 'id' | 'serverId'>): void =>
  addChangeHint(tx, { workspaceId, action: 'cloud.agent.follow', type: 'agent', id, parentId: serverId })
