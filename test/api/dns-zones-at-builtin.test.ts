import { builtinUnderTest } from '../support/builtin-under-test'
import { hubContract } from '../support/hub-contract'

// Zones of the built-in name server can’t change outside the hub, so there is no drift.
hubContract('builtin', builtinUnderTest)
