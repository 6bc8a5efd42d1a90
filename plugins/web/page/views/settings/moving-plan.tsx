/** Move in: what was found in a folder, and what becomes of it. */

import { LogIn, Undo2 } from 'lucide'
import { useMemo, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { sayFailure } from '../../parts/toast.tsx'
import { post } from '../../server/api.ts'
import type { Account, Adoption, Place } from '../../server/records.ts'
import { forget } from '../../stores/load.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { t } from '../../texts/texts.ts'
import { AlongChoice, type Chosen, offerOf, safeChoice, toAlong } from './moving-along.tsx'
import { Problems } from './moving-rows.tsx'
import { Group } from './option.tsx'

const OUTCOMES = ['new', 'ask', 'moved', 'known', 'removed', 'problem'] as const
/** Which not every browser plays. */
const UNSURE = ['mkv', 'mov', 'avi', 'flv', 'wmv', 'mpg', 'mpeg', 'ts', 'm2ts', '3gp', 'ogv', 'mka']

export const isBusy = ({ state }: Adoption): boolean =>
  state === 'scanning' || state === 'adopting' || state === 'undoing'

interface PlanProps {
  adoption: Adoption
  place: Place
  accounts: Account[]
  reload: () => Promise<void>
}

export function Plan({ adoption, place, accounts, reload }: PlanProps) {
  const { id, state, outcomes, containers, unchanged, along } = adoption
  const offer = useMemo(() => offerOf(along), [JSON.stringify(along)])
  const [chosen, choose] = useState<Chosen>()
  const choice = chosen ?? safeChoice(offer)
  const command = async (what: 'adopt' | 'undo') => {
    await post(`/api/adoption/${id}/`, { command: what, ...(what === 'adopt' && { along: toAlong(choice) }) })
    forget()
    await reload()
  }
  const undo = async () => {
    const isSure = await confirm({
      title: t('settings.moving.undo.title'),
      text: <p>{t('settings.moving.undo.text', { name: place.label })}</p>,
      action: t('settings.moving.undo'),
    })
    if (isSure) await command('undo')
  }
  const unsure = Object.entries(containers).filter(([ending]) => UNSURE.includes(ending))
  const mayCome =
    (outcomes['new']?.count ?? 0) + (outcomes['ask']?.count ?? 0) + (outcomes['moved']?.count ?? 0) > 0 ||
    offer.kinds.size + offer.owners.size > 0
  const isOpen = state === 'planned' || state === 'failed'
  return (
    <Group title={t('settings.moving.plan', { name: place.label })}>
      <div class="option-line">
        <p>
          <strong>
            {state === 'failed'
              ? t('settings.moving.state.failed', { reason: adoption.reason })
              : t(`settings.moving.state.${state}`)}
          </strong>{' '}
          <span class="meta">{toAge(adoption.created_at)}</span>
        </p>
        {state !== 'failed' && adoption.reason !== '' && <p class="hint">{adoption.reason}</p>}
        <ul class="plain">
          {unchanged > 0 && <li>{t('settings.moving.unchanged', { count: unchanged })}</li>}
          {OUTCOMES.flatMap((outcome) => {
            const { count, size } = outcomes[outcome] ?? { count: 0, size: 0 }
            return count === 0
              ? []
              : [
                  <li key={outcome}>
                    {t(`settings.moving.outcome.${outcome}`, { count })}
                    {(outcome === 'new' || outcome === 'ask') && ` (${toBytes(size)})`}
                  </li>,
                ]
          })}
        </ul>
        {unsure.length > 0 && (
          <p class="hint">
            {t('settings.moving.unsure', { names: unsure.map(([ending, count]) => `${ending} (${count})`).join(', ') })}
          </p>
        )}
        {(outcomes['problem']?.count ?? 0) > 0 && !isBusy(adoption) && <Problems id={id} />}
      </div>
      {isOpen && offer.kinds.size + offer.owners.size > 0 && (
        <AlongChoice offer={offer} choice={choice} choose={choose} accounts={accounts} />
      )}
      <div class="option-foot">
        {mayCome && isOpen && (
          <Button kind="main" icon={LogIn} onClick={() => void command('adopt').catch(sayFailure)}>
            {t('settings.moving')}
          </Button>
        )}
        {(state === 'adopted' || state === 'failed') && (
          <Button icon={Undo2} onClick={() => void undo().catch(sayFailure)}>
            {t('settings.moving.undo')}
          </Button>
        )}
      </div>
    </Group>
  )
}
