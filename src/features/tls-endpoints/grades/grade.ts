import type { AddressFacts } from '../../../checks/tls-probe/facts'
import { certificateRules } from './certificate-rules'
import { connectionRules } from './connection-rules'
import { profileOf, type Profile } from './profile'
import { effects, type Effect, type Evidence, type Rule } from './rule'
import { scoreOf, scoreParts, type ScoreParts } from './score'
import { serverFacts, type ChainFacts } from './server-facts'

/** From the best to the worst. `T`: the certificate is not trusted. `M`: it is for another name. */
export const gradeLetters = ['A+', 'A', 'A-', 'B', 'C', 'D', 'E', 'F', 'M', 'T'] as const
export type GradeLetter = (typeof gradeLetters)[number]

/** All rules, by name, sorted by their effect. */
export const gradeRules: Readonly<Record<RuleName, Rule>> = Object.fromEntries(
  Object.entries<Rule>({ ...certificateRules, ...connectionRules }).sort(
    ([, a], [, b]) => effects.indexOf(a.effect) - effects.indexOf(b.effect),
  ),
) as Record<RuleName, Rule>
type RuleName = keyof typeof certificateRules | keyof typeof connectionRules
export const ruleNames = Object.keys(gradeRules) as RuleName[]

/** Why a grade is not better. */
export interface Reason {
  rule: RuleName
  effect: Effect
  detail: string
  evidence: Evidence
}

export interface Grade {
  grade: GradeLetter
  /** From 0 to 100. */
  score: number
  parts: ScoreParts
  profile: Profile
  /** The most serious first. */
  reasons: Reason[]
}

/**
 * Grades a server that speaks TLS by the SSL Labs Server Rating Guide, version 2009r. Only a server that was scanned completely can get
 * A+.
 * @param chains those of `facts.chains` that can be read, in the same order
 */
export function gradeOf(facts: AddressFacts, chains: readonly ChainFacts[]): Grade {
  const server = serverFacts(facts, chains)
  const reasons = ruleNames.flatMap(rule => {
    const { effect, find } = gradeRules[rule]
    const found = find(server)
    return found ? [{ rule, effect, ...found }] : []
  })
  const parts = scoreParts(server)
  const score = reasons.some(({ rule }) => gradeRules[rule].isZero) ? 0 : scoreOf(parts)
  return { grade: letterOf(scoreOf(parts), reasons, isComplete(facts)), score, parts, profile: profileOf(server), reasons }
}

/** Whether all steps of the scan succeeded. Otherwise there may be problems that were not found. */
const isComplete = ({ versions, errors }: AddressFacts): boolean =>
  errors.length === 0 &&
  Object.values(versions).every(one => (one.status === 'offered' ? one.complete : one.status === 'not_offered'))

function letterOf(score: number, reasons: readonly Reason[], complete: boolean): GradeLetter {
  const found = reasons.map(one => one.effect)
  if (found.includes('T')) return 'T'
  if (found.includes('M')) return 'M'
  const cap = (['F', 'C', 'B'] as const).find(letter => found.includes(letter))
  const earned = score < 80 ? letterByScore(score) : found.includes('warning') ? 'A-' : complete ? 'A+' : 'A'
  return cap ? worse(earned, cap) : earned
}

const letterByScore = (score: number): GradeLetter =>
  score >= 65 ? 'B' : score >= 50 ? 'C' : score >= 35 ? 'D' : score >= 20 ? 'E' : 'F'

/** Positive if `a` is worse than `b`. */
export const compareGrades = (a: GradeLetter, b: GradeLetter): number => gradeLetters.indexOf(a) - gradeLetters.indexOf(b)

const worse = (a: GradeLetter, b: GradeLetter): GradeLetter => (compareGrades(a, b) > 0 ? a : b)

/** The worst of several grades; null if there are none. */
export const worstGrade = (grades: readonly GradeLetter[]): GradeLetter | null =>
  grades.reduce<GradeLetter | null>((worst, one) => (worst ? worse(worst, one) : one), null)

/**
 * Whether a change of the grade is worth an event: it got worse, or it is A now and was not before. An A without plus or minus comes from
 * an incomplete scan, so its difference from A+ and A- is no news about the server.
 */
export const isNotable = (grade: GradeLetter, previous: GradeLetter): boolean => {
  if (isA(grade) && isA(previous)) return grade === 'A-' && previous === 'A+'
  return compareGrades(grade, previous) > 0 || isA(grade)
}

const isA = (grade: GradeLetter): boolean => grade.startsWith('A')
