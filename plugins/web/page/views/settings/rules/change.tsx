/** What the edited rule would change, compared with the saved rules; updated while typing. */
import { useEffect, useState } from 'preact/hooks'
import { ask, isAborted, toFailure } from '../../../server/api.ts'
import type { Rule, RulePreview } from '../../../server/records.ts'
import { toBytes } from '../../../texts/format.ts'
import { t } from '../../../texts/lookup.ts'
import type { Draft } from './draft.ts'

const REST_MS = 500

const bodyOf = ({ side, scope, conditions, outcome, name, is_on }: Draft | Rule) => ({
  ...{ side, scope, conditions, outcome, name, is_on },
})

/** @param draft  undefined: the rule is incomplete */
export function Change({ draft, saved }: { draft: Draft | undefined; saved: readonly Rule[] }) {
  const [before, setBefore] = useState<RulePreview>()
  const [after, setAfter] = useState<RulePreview>()
  const [wrong, setWrong] = useState('')
  const preview = (rules: object[], signal: AbortSignal) =>
    ask<RulePreview>('POST', '/api/rule/preview/', { body: { rules }, signal })
  useEffect(() => {
    const ending = new AbortController()
    preview(saved.map(bodyOf), ending.signal).then(setBefore, () => undefined)
    return () => ending.abort()
  }, [])
  const text = draft && JSON.stringify(bodyOf(draft))
  useEffect(() => {
    if (!draft) return
    const ending = new AbortController()
    const rules = saved.map((rule) => bodyOf(rule.id === draft.id ? draft : rule))
    const timer = setTimeout(
      () =>
        preview(draft.id === undefined ? [...rules, bodyOf(draft)] : rules, ending.signal).then(
          (made) => (setAfter(made), setWrong('')),
          (error: unknown) => !isAborted(error) && (setAfter(undefined), setWrong(toFailure(error).message)),
        ),
      REST_MS,
    )
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])
  const line = ({ outcomes: { remove, fetch } }: RulePreview) =>
    [
      t('rules.sum.remove', { count: remove.videos, size: toBytes(remove.bytes) }),
      ...(fetch.videos > 0 ? [t('rules.sum.fetch', { count: fetch.videos })] : []),
    ].join(' · ')
  return (
    <div class="rule-change" role="status">
      {before && <p class="meta">{t('rules.change.before', { sum: line(before) })}</p>}
      {draft && after && <p>{t('rules.change.after', { sum: line(after) })}</p>}
      {draft && wrong !== '' && <p class="error">{wrong}</p>}
    </div>
  )
}
