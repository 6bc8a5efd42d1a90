/** Import: the other data of the program that is imported together with the films, and the accounts that receive it. */
import { Select, Switch } from '../../parts/field.tsx'
import type { Account, Adoption } from '../../server/records.ts'
import { account as own } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'

/** The first three are selected by default. */
const KINDS = ['keep', 'ignore', 'platform_list', 'list', 'channel', 'playlist'] as const
const SAFE: readonly Kind[] = ['keep', 'ignore', 'platform_list']
type Kind = (typeof KINDS)[number]

/** The available data: the number of rows of each kind, and of each person in the other program. */
export interface Offer {
  kinds: Map<Kind, number>
  owners: Map<string, number>
}

export function offerOf(along: Adoption['along']): Offer {
  const offer: Offer = { kinds: new Map(), owners: new Map() }
  for (const { kind, owner, count } of along) {
    if (kind === 'watched' || kind === 'position') offer.owners.set(owner, (offer.owners.get(owner) ?? 0) + count)
    else offer.kinds.set(kind, count)
  }
  return offer
}

export interface Chosen {
  kinds: Kind[]
  /** Accounts here, by their names in the other program. */
  users: Record<string, string>
  /** What to do with videos whose files are missing. */
  gone?: 'queue' | 'ignore'
}

/** If the other program has one person, the signed-in account is selected; if it has several, no account is guessed. */
export function safeChoice({ kinds, owners }: Offer): Chosen {
  const [only, ...others] = owners.keys()
  const name = own.value?.username
  return {
    kinds: SAFE.filter((kind) => kinds.has(kind)),
    users: only !== undefined && others.length === 0 && name !== undefined ? { [only]: name } : {},
  }
}

export const toAlong = ({ kinds, users, gone }: Chosen) => ({
  kinds: [...kinds, ...(Object.keys(users).length > 0 ? ['watched', 'position'] : [])],
  users,
  ...(gone && { gone }),
})

interface AlongProps {
  offer: Offer
  choice: Chosen
  choose: (choice: Chosen) => void
  accounts: Account[]
}

export function AlongChoice({ offer, choice, choose, accounts }: AlongProps) {
  const { kinds, users } = choice
  const setUser = (owner: string, name: string) => {
    const { [owner]: _, ...others } = users
    choose({ ...choice, users: name === '' ? others : { ...others, [owner]: name } })
  }
  const nobody = { value: '', label: t('settings.import.along.nobody') }
  const people = accounts.map(({ username: name }) => ({
    value: name,
    label: t('settings.import.along.account', { name }),
  }))
  return (
    <fieldset class="option-form">
      <legend>{t('settings.import.along')}</legend>
      {[...offer.owners].map(([owner, count]) => (
        <Select
          key={owner}
          label={
            owner === ''
              ? t('settings.import.along.seen', { count })
              : t('settings.import.along.seenBy', { owner, count })
          }
          value={users[owner] ?? ''}
          choices={[nobody, ...people]}
          onChange={(name) => setUser(owner, name)}
        />
      ))}
      {KINDS.filter((kind) => offer.kinds.has(kind)).map((kind) => (
        <Switch
          key={kind}
          label={t(`settings.import.along.${kind}`, { count: offer.kinds.get(kind)! })}
          hint={t(`settings.import.along.${kind}.hint`)}
          isOn={kinds.includes(kind)}
          onChange={(isOn) =>
            choose({ ...choice, kinds: isOn ? [...kinds, kind] : kinds.filter((one) => one !== kind) })
          }
        />
      ))}
    </fieldset>
  )
}
