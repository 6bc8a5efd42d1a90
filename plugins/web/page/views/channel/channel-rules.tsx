/** The rules of a channel, as sentences. */
import { ruleWords, scopeName } from '../../parts/rule-words.ts'
import { get } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Rule, Rules } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'

const inWords = (rule: Rule): string =>
  rule.scope.kind === 'group' ? `${scopeName(rule)} – ${ruleWords(rule)}` : ruleWords(rule)

/** Renders nothing if there are none. */
export function ChannelRules({ id }: { id: string }) {
  const load = useLoad<Rules>(`channel/${id} rules`, (signal) => get('/api/rule/', { channel: id }, signal))
  const { take = [], keep = [] } = load.now.value.value ?? {}
  const rules = [...take, ...keep].filter(({ is_on: isOn }) => isOn)
  if (rules.length === 0) return null
  return (
    <section class="channel-rules" aria-label={t('channel.rules')}>
      <ul class="plain">
        {rules.map((rule) => (
          <li key={rule.id}>{inWords(rule)}</li>
        ))}
      </ul>
      <a href={under('/settings/rules/')}>{t('channel.rules.all')}</a>
    </section>
  )
}
