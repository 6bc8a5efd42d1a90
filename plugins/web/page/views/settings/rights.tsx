/** The rights of an account: one of four roles; for a child, the channels and playlists that it sees. */
import { Chosen, KINDS, type Kind, MOST_CHOSEN } from '../../parts/chosen.tsx'
import { Select } from '../../parts/field.tsx'
import { GroupChecks } from '../../parts/groups.tsx'
import type { Account } from '../../server/records.ts'
import { type Role, roleOf } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'

const ROLES: readonly Role[] = ['watcher', 'downloader', 'child', 'admin']

export interface Rights {
  role: Role
  /** The child sees everything except the chosen channels, playlists and groups. */
  isExcept: boolean
  chosen: Record<Kind, readonly string[]>
  /** Ids of groups. */
  groups: readonly string[]
  /** What the child was allowed to see nevertheless, if it sees everything except the chosen ones. */
  exceptions?: Account['view']
}

/** The server's prefix for the kinds in a view that hides documents. */
const NOT = 'not_'

export const NEW_ACCOUNT: Rights = {
  role: 'watcher',
  isExcept: false,
  chosen: { channel: [], playlist: [] },
  groups: [],
}

export function rightsOf(account: Account): Rights {
  const { view } = account
  const isExcept = Object.keys(view ?? {}).some((kind) => kind.startsWith(NOT))
  const of = (kind: Kind | 'group') => view?.[isExcept ? NOT + kind : kind] ?? []
  return {
    role: roleOf(account),
    isExcept,
    chosen: { channel: of('channel'), playlist: of('playlist') },
    groups: of('group'),
    exceptions: isExcept ? Object.fromEntries(Object.entries(view!).filter(([kind]) => !kind.startsWith(NOT))) : null,
  }
}

/** The rights as the server expects them. */
export const toBody = ({
  role,
  isExcept,
  chosen,
  groups,
  exceptions,
}: Rights): Pick<Account, 'is_staff' | 'may_download' | 'view'> => ({
  is_staff: role === 'admin',
  may_download: role === 'downloader',
  view:
    role === 'child'
      ? {
          ...(isExcept && exceptions),
          ...Object.fromEntries(
            Object.entries({ ...chosen, group: groups }).map(([kind, ids]) => [isExcept ? NOT + kind : kind, [...ids]]),
          ),
        }
      : null,
})

/** Adds a channel or playlist, or removes it if it is chosen already. */
export function toggled(rights: Rights, kind: Kind, id: string): Rights {
  const ids = rights.chosen[kind]
  if (!ids.includes(id) && ids.length >= MOST_CHOSEN) return rights
  const changed = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]
  return { ...rights, chosen: { ...rights.chosen, [kind]: changed } }
}

/**
 * @param onPick  opens the picker, which must be outside of the form, because Enter in its field would submit the form
 */
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
      {rights.role === 'child' && (
        <Select
          label={t('settings.users.view')}
          value={rights.isExcept ? 'except' : 'only'}
          choices={(['only', 'except'] as const).map((value) => ({ value, label: t(`settings.users.view.${value}`) }))}
          hint={t(rights.isExcept ? 'settings.users.view.except.hint' : 'settings.users.view.only.hint')}
          onChange={(value) => onChange({ ...rights, isExcept: value === 'except' })}
        />
      )}
      {rights.role === 'child' && (
        <GroupChecks chosen={rights.groups} onChange={(groups) => onChange({ ...rights, groups })} />
      )}
      {rights.role === 'child' &&
        KINDS.map((kind) => (
          <Chosen
            key={kind}
            kind={kind}
            ids={rights.chosen[kind]}
            most={MOST_CHOSEN}
            onDrop={(id) => onChange(toggled(rights, kind, id))}
            onPick={() => onPick(kind)}
          />
        ))}
    </>
  )
}
