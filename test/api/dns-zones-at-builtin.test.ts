import { builtinUnderTest } from '../support/builtin-under-test'
import { hubContract } from '../support/hub-contract'

// Nobody can change a zone of the hub but through the hub, so there is no drift.
hubContract('builtin', builtinUnderTest)
