import { textOf } from './sources'

/** A phrase that text for people must not have, and what to write instead. */
export interface Phrase {
  pattern: RegExp
  instead: string
}

const phrase = (pattern: RegExp, instead: string): Phrase => ({ pattern, instead })

/**
 * Wording that readers would have to translate. Each pattern is unlikely in correct, plain English; where one does match a good
 * sentence, make the pattern narrower.
 */
export const phrases: readonly Phrase[] = [
  phrase(/[«»]/u, '“ ” or code marks'),
  phrase(/\banew\b/iu, 'again, retry, reset'),
  phrase(/\bwhoever\b/iu, 'the person, user or client that'),
  phrase(/\bwhosoever\b|\bwhatsoever\b/iu, 'anyone, anything'),
  phrase(/\bone(?:self|[’']s own|[’']s)\b(?<!(?:this|that|each|every|no|any|which) one[’']s)/iu, 'your, their, its'),
  phrase(/\bsomebody\b/iu, 'someone, or the role that acts'),
  phrase(/\bunasked\b/iu, 'automatically, without a request'),
  phrase(/\blately\b/iu, 'recently'),
  phrase(/\btold\b/iu, 'reported, returned, shown, notified'),
  phrase(/\b(?:is|are|was|were|be|been|being) said\b|\bsaid (?:to|by|in|so)\b|\bas said\b/iu, 'reported, stated, described'),
  phrase(/\bgoes on\b|\bgo on\b|\bgoing on\b|\bwent on\b/iu, 'continues, resumes'),
  phrase(/\bcome(?:s)? to nothing\b|\bcame to nothing\b/iu, 'fails'),
  phrase(/\b(?:sees?|seen|saw) to\b/iu, 'handles, is assigned to'),
  phrase(/\bcall(?:s|ed|ing)? (?:it |them |an action |this )?off\b/iu, 'cancel'),
  phrase(/\bin force\b/iu, 'active, in effect'),
  phrase(/\bstands? (?:in|at|there|beside|where|as|alone|behind|before|after)\b|\bit stands\b/iu, 'is, appears'),
  phrase(/\bbeside(?:s)?\b/iu, 'next to, with, in addition to'),
  phrase(/\ball the same\b/iu, 'anyway, still'),
  phrase(/\bgrave\b/iu, 'severe, severity'),
  phrase(/\bno room\b|\broom (?:for|is|left)\b/iu, 'limit reached, disk full, space'),
  phrase(/\blet in\b|\bgets? in\b/iu, 'sign in, allow'),
  phrase(/\bwrong now\b/iu, 'active issues'),
  phrase(/\bends? soon\b/iu, 'expiring soon'),
  phrase(/\bgo(?:es)? away\b/iu, 'is deleted, expires'),
  phrase(/\bno more\b(?! than)(?! [a-z]+ than)/iu, 'no longer, not … anymore'),
  phrase(/\bneither of\b|\bnor is\b|\bnor does\b|(?<!\bor )\bneither\.(?!\w)/iu, 'not … either; two sentences'),
  phrase(/\bkept at\b/iu, 'hosted at'),
  phrase(/\bbecame of\b|\bbecomes of\b/iu, 'the result, what happened'),
  phrase(/\bmend(?:s|ed|ing)?\b/iu, 'fix, fixed'),
  phrase(/\breckon(?:s|ed|ing)?\b/iu, 'calculate'),
  phrase(/\bwhat is (?:left|meant|wanted|needed|asked|given|above|below|to be)\b/iu, 'name the thing'),
  phrase(/\b(?:as|than|how) (?:it|they|one) (?:is|are) (?:meant )?to be\b/iu, 'desired'),
  phrase(/\btaken? away\b/iu, 'delete, remove'),
  phrase(/\btr(?:y|ies|ied) (?:it |them )?(?:out|on)\b/iu, 'test, preview, validate'),
  phrase(/\bgive[ns]? up\b(?! after)|\bgave up\b(?! after)/iu, 'failed permanently, gave up after N attempts'),
  phrase(/\bnone of (?:these|them)\b(?! (?:is|are|was|were|has|have|can)\b)/iu, 'no matches'),
  phrase(/\bturn(?:s|ed)? (?:it )?upside down\b/iu, 'invert'),
  phrase(
    /\bmake (?:a|an|the|one|another|your first) (?:new )?(?:channel|zone|record|token|monitor|heartbeat|endpoint|window|incident|plan|workspace|template|provider|key|passkey|stream|user)s?\b/iu,
    'create, add',
  ),
  phrase(/\bgone up\b|\bgoes up\b(?! and)/iu, 'increased'),
  phrase(/\bby hand\b/iu, 'manually'),
  phrase(/\bletter for letter\b|\bbyte for byte\b/iu, 'exactly, identical'),
  phrase(/\bthat of\b/iu, 'repeat the noun'),
  phrase(/\bof which\b/iu, 'split the sentence'),
  phrase(/\bin its turn\b|\bin turns\b/iu, 'in batches, one after another'),
  phrase(/\bof old\b|\bof late\b|\bto come\b|\bthere is to\b/iu, 'plain words'),
  phrase(/\bhear(?:s|d)? (?:of|from it|what)\b/iu, 'is notified'),
  phrase(/\bdeeds?\b/iu, 'action'),
  phrase(/\bstrangers?\b/iu, 'unauthenticated, unknown client'),
  phrase(/\bany more\b(?! \w+ than| than| bytes| data| time)/iu, 'anymore, no longer'),
  phrase(/\bg[ia]ve[sn]? out\b|\bgiving out\b/iu, 'serve, issue, return'),
  phrase(/\bpower cuts?\b/iu, 'power failure'),
  phrase(/\b(?:anyone|attackers?) on the way\b/iu, 'attackers on the network'),
  phrase(/n['’]t tell(?: it)?(?=[.;:,)]|$)/iu, 'doesn’t report it, doesn’t return it'),
]

// Tested first: one expression is far faster than one for each phrase.
const anyPhrase = new RegExp(phrases.map(one => one.pattern.source).join('|'), 'iu')

/** What a file says to people: comments, string literals and text between tags; the whole of a Markdown file outside code blocks. */
export function proseOf(source: string, kind: 'md' | 'ts' | 'tsx'): { line: number; text: string }[] {
  if (kind === 'md') {
    let isCode = false
    return source.split('\n').flatMap((text, at) => {
      if (text.startsWith('```')) isCode = !isCode
      return isCode || text.startsWith('```') ? [] : [{ line: at + 1, text: text.replaceAll(/`[^`]*`/g, '``') }]
    })
  }
  const code = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/
  const betweenTags = /[>}][^<>{}=;()]*[A-Za-z]{2}[^<>{}=;()]*(?=[<{])/
  const pattern = new RegExp(kind === 'tsx' ? `${code.source}|${betweenTags.source}` : code.source, 'g')
  let line = 1
  let counted = 0
  return [...source.matchAll(pattern)].flatMap(match => {
    for (; counted < match.index; counted++) if (source[counted] === '\n') line++
    const first = line
    return match[0]
      .replaceAll(/\$\{[^}]*\}/g, '…')
      .replaceAll(/(?<=.)`[^`]*`(?=.)/g, '``')
      .split('\n')
      .map((text, at) => ({ line: first + at, text }))
  })
}

/** Where a file has a phrase of the table: `path:line: “found” (write …)`. */
export const foundIn = (file: string): string[] =>
  proseOf(textOf(file), (/\.(md|tsx)$/.exec(file)?.[1] as 'md' | 'tsx' | undefined) ?? 'ts').flatMap(({ line, text }) =>
    // Paths of imports are names of files, not text.
    !anyPhrase.test(text) || /^['"]\.{1,2}\//.test(text)
      ? []
      : phrases.flatMap(({ pattern, instead }) => {
          const match = pattern.exec(text)
          return match ? [`${file}:${line}: “${match[0]}” (write ${instead})`] : []
        }),
  )
