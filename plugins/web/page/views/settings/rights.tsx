/** The rights of an account: one of four roles; for a child, the channels and playlists that it sees. */
import { Plus, X } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { Select } from '../../parts/field.tsx'
import { get } from '../../server/api.ts'
import type { Account, Channel, Item, Playlist } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { type Role, roleOf } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'

const ROLES: readonly Role[] = ['watcher', 'downloader', 'child', 'admin']
const KINDS = ['channel', 'playlist'] as const
export type Kind = (typeof KINDS)[number]

/** As the server takes them. */
const MOST_CHOSEN = 500
/** Names are requested one by one: only the first ones, until somebody wants to see all. */
const FIRST = 20

export interface Rights {
  role: Role
  chosen: Record<Kind, readonly string[]>
}

export const NEW_ACCOUNT: Rights = { role: 'watcher', chosen: { channel: [], playlist: [] } }

export const rightsOf = (account: Account): Rights => ({
  role: roleOf(account),
  chosen: { channel: account.view?.['channel'] ?? [], playlist: account.view?.['playlist'] ?? [] },
})

/** As the server takes them. */
export const toBody = ({ role, chosen }: Rights): Pick<Account, 'is_staff' | 'may_download' | 'view'> => ({
  is_staff: role === 'admin',
  may_download: role === 'downloader',
  view: role === 'child' ? { channel: [...chosen.channel], playlist: [...chosen.playlist] } : null,
})

/** Adds one, or removes it if it is there. */
export function toggled(rights: Rights, kind: Kind, id: string): Rights {
  const ids = rights.chosen[kind]
  if (!ids.includes(id) && ids.length >= MOST_CHOSEN) return rights
  const changed = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]
  return { ...rights, chosen: { ...rights.chosen, [kind]: changed } }
}

/** @param onPick  for use outside of the form: Enter in its field would submit that */
export function RightsFields({
  rights,
  onChange,
  onPick,
}: {
  rights: Rights
  onChange: (rights: Rights) => void
  onPick: (kind: Kind) => void
}) {
  return (
    <>
      <Select
        label={t('settings.users.role')}
        value={rights.role}
        choices={ROLES.map((role) => ({ value: role, label: t(`settings.users.role.${role}`) }))}
        hint={t(`settings.users.role.${rights.role}.hint`)}
        onChange={(role) => onChange({ ...rights, role })}
      />
      {rights.role === 'child' &&
        KINDS.map((kind) => (
          <Chosen
            key={kind}
            kind={kind}
            ids={rights.chosen[kind]}
            onDrop={(id) => onChange(toggled(rights, kind, id))}
            onPick={() => onPick(kind)}
          />
        ))}
    </>
  )
}

function Chosen({
  kind,
  ids,
  onDrop,
  onPick,
}: {
  kind: Kind
  ids: readonly string[]
  onDrop: (id: string) => void
  onPick: () => void
}) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? ids : ids.slice(0, FIRST)
  return (
    <section class="members" aria-label={t(`settings.users.chosen.${kind}`)}>
      <div class="members-head">
        <h3>{t(`settings.users.chosen.${kind}`)}</h3>
        <Button icon={Plus} onClick={onPick}>
          {t(`settings.users.choose.${kind}`)}
        </Button>
      </div>
      {ids.length === 0 && <p class="hint">{t('settings.users.chosen.none')}</p>}
      {ids.length === MOST_CHOSEN && <p class="hint">{t('settings.users.chosen.most', { count: MOST_CHOSEN })}</p>}
      {ids.length > 0 && (
        <ul>
          {shown.map((id) => (
            <One key={id} kind={kind} id={id} onDrop={() => onDrop(id)} />
          ))}
        </ul>
      )}
      {shown.length < ids.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {t('settings.users.chosen.all', { count: ids.length })}
        </button>
      )}
    </section>
  )
}

function One({ kind, id, onDrop }: { kind: Kind; id: string; onDrop: () => void }) {
  const { now } = useLoad(`chosen/${kind}/${id}`, (signal) => nameOf(kind, id, signal))
  const name = now.value.value ?? id // while it is loading, and if it is gone
  return (
    <li>
      <bdi>{name}</bdi>
      <IconButton icon={X} label={t('settings.users.chosen.drop', { name })} onClick={onDrop} />
    </li>
  )
}

const nameOf = async (kind: Kind, id: string, signal: AbortSignal): Promise<string> =>
  kind === 'channel'
    ? (await get<Item<Channel>>(`/api/channel/${id}/`, {}, signal)).data.channel_name
    : (await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)).data.playlist_name
