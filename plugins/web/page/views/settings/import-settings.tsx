/** Import: the settings of the other program, and the rules that replace them. */
import { ListFilter } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import type { Adoption, RulesMade } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { forget } from '../../stores/load.ts'
import { inWords, t } from '../../texts/lookup.ts'

const SETTINGS = [
  ...(['titles', 'not_titles', 'shortest', 'longest', 'since'] as const),
  ...(['newest', 'kept_for', 'quality', 'shorts', 'streams'] as const),
]
const isKnown = (key: string): key is (typeof SETTINGS)[number] => (SETTINGS as string[]).includes(key)

export function SetThere({ adoption: { id, settings } }: { adoption: Pick<Adoption, 'id' | 'settings'> }) {
  const [made, setMade] = useState<RulesMade>()
  if (settings.length === 0) return null
  const make = async () => {
    const rules = await post<RulesMade>(`/api/adoption/${id}/rules/`)
    forget('settings/rules')
    setMade(rules)
    say(t('settings.import.rules.made', { count: rules.added }))
  }
  const reasonOf = (of: string, key: string) => made?.left.find((one) => one.of === of && one.key === key)?.reason
  return (
    <details class="plan-part">
      <summary class="unfold">{t('settings.import.set', { count: settings.length })}</summary>
      <ul class="plain">
        {settings.map(({ of, key, value }) => {
          const reason = reasonOf(of, key)
          return (
            <li key={`${of} ${key}`} class="meta" dir="auto">
              {of}: {isKnown(key) ? t(`settings.import.set.${key}`, { value }) : `${key} ${value}`}
              {reason !== undefined && ` – ${inWords(reason)}`}
            </li>
          )
        })}
      </ul>
      {isThere('rules') && (
        <Button icon={ListFilter} onClick={make}>
          {t('settings.import.rules')}
        </Button>
      )}
    </details>
  )
}
