/** Groups of channels and playlists: one tap shows only the videos of a group. */
import { X } from 'lucide'
import { changeQuery, route } from '../browser/router.ts'
import { get } from '../server/api.ts'
import type { ChannelGroup } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { type Load, useLoad } from '../stores/load.ts'
import { lastGroups, seesAll, takeGroups } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'

/** Accounts with a view see no groups. */
const readGroups = async (signal: AbortSignal): Promise<ChannelGroup[]> =>
  isThere('rules') && seesAll.value ? get('/api/group/', {}, signal) : []

export const useGroups = (): Load<ChannelGroup[]> => useLoad('groups', readGroups)

/** The names of groups, which the session contains at the first load. */
const useGroupNames = (): Load<ReadonlyArray<Omit<ChannelGroup, 'members'>>> =>
  useLoad('group names', async (signal) => takeGroups() ?? readGroups(signal))

/** The chosen group in the address; '': none. */
export const groupOfAddress = (): string => /^[1-9]\d{0,14}$/.exec(route.value.query.get('group') ?? '')?.[0] ?? ''

export const Dot = ({ color }: { color: string }) => (
  <span class="group-dot" style={{ background: color }} aria-hidden="true" />
)

/** Renders nothing if there are no groups. */
export function GroupChips() {
  const loaded = useGroupNames().now.value.value
  // The last known ones reserve the space.
  const groups = loaded ?? lastGroups.value ?? []
  const chosen = groupOfAddress()
  const isGone = loaded !== undefined && chosen !== '' && !groups.some(({ id }) => String(id) === chosen)
  if (groups.length === 0 && !isGone) return null
  return (
    <div class="chips groups" role="group" aria-label={t('groups')}>
      {groups.map(({ id, name, color }) => (
        <button
          type="button"
          key={id}
          class="chip"
          aria-pressed={chosen === String(id)}
          onClick={() => changeQuery({ group: chosen === String(id) ? '' : String(id) })}
        >
          <Dot color={color} />
          <span class="chip-name">{name}</span>
        </button>
      ))}
      {isGone && (
        <button type="button" class="chip" aria-pressed="true" onClick={() => changeQuery({ group: '' })}>
          {t('groups.gone')}
          <Icon node={X} size={16} />
        </button>
      )}
    </div>
  )
}

/** Renders nothing if there are no groups. A chosen group that was removed stays until somebody unchecks it. */
export function GroupChecks({
  chosen,
  onChange,
}: {
  /** Ids of groups. */
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
}) {
  const groups = useGroups().now.value.value?.map(({ id, name }) => ({ id: String(id), name }))
  if (!groups) return null
  const gone = chosen.filter((one) => !groups.some(({ id }) => id === one))
  const all = [...groups, ...gone.map((id) => ({ id, name: t('groups.gone') }))]
  if (all.length === 0) return null
  return (
    <fieldset class="checks">
      <legend>{t('groups')}</legend>
      {all.map(({ id, name }) => (
        <label key={id} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) => {
              const others = chosen.filter((one) => one !== id)
              onChange(checked ? [...others, id] : others)
            }}
          />
          <bdi>{name}</bdi>
        </label>
      ))}
    </fieldset>
  )
}
