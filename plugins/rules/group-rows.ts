/**
 * Groups of channels and playlists: rows of the ledger. A member whose channel or playlist is removed stays, in case it
 * is restored.
 */
import { errors, say } from 'archivolt'
import type { App } from './app.ts'
import type { RuleRows } from './rule-rows.ts'

const MOST_GROUPS = 100
const MOST_MEMBERS = 2000

export interface Member {
  kind: 'channel' | 'playlist'
  id: string
}

export interface Group {
  id: number
  name: string
  color: string
  members: Member[]
}

export type GroupHead = Omit<Group, 'members'>
export type GroupDraft = Omit<Group, 'id'>

export type GroupRows = ReturnType<typeof openGroupRows>

export function openGroupRows(
  { ledger, accounts, emit }: Pick<App, 'ledger' | 'accounts' | 'emit'>,
  rules: Pick<RuleRows, 'changed'>,
) {
  const membersOf = (id: number): Member[] =>
    ledger.sql<Member>('SELECT kind, id FROM rules_member WHERE group_id = ? ORDER BY kind, id').all(id)
  /** Groups in their order, without members, which are read only for the groups that need them. */
  const heads = (): GroupHead[] =>
    ledger.sql<GroupHead>('SELECT id, name, color FROM rules_group ORDER BY place, id').all()
  const list = (): Group[] => heads().map((group) => ({ ...group, members: membersOf(group.id) }))

  function get(id: number): Group | undefined {
    const group = ledger.sql<GroupHead>('SELECT id, name, color FROM rules_group WHERE id = ?').get(id)
    return group && { ...group, members: membersOf(id) }
  }

  function setMembers(id: number, members: readonly Member[]): void {
    if (members.length > MOST_MEMBERS)
      throw errors.wrongField('members', say`must be at most ${{ most: MOST_MEMBERS }}`)
    ledger.sql('DELETE FROM rules_member WHERE group_id = ?').run(id)
    const add = ledger.sql('INSERT INTO rules_member (group_id, kind, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
    for (const member of members) add.run(id, member.kind, member.id)
  }
  function mustExist(id: number): void {
    if (!ledger.sql('SELECT 1 FROM rules_group WHERE id = ?').get(id)) throw errors.notFound('group')
  }

  return {
    heads,
    list,
    get,

    async add({ name, color, members }: GroupDraft): Promise<Group> {
      const id = await ledger.write(() => {
        const { count } = ledger.sql<{ count: number }>('SELECT count(*) AS count FROM rules_group').get()!
        if (count >= MOST_GROUPS)
          throw errors.conflict(say`There are already ${{ most: MOST_GROUPS }} groups: remove one first`)
        const { lastInsertRowid } = ledger
          .sql('INSERT INTO rules_group (place, name, color) VALUES (?, ?, ?)')
          .run(count, name, color)
        setMembers(Number(lastInsertRowid), members)
        rules.changed()
        return Number(lastInsertRowid)
      })
      return get(id)!
    },

    /**
     * Adds missing groups, with their own ids unless another group has them.
     * @returns the current id of each group, by its id in the record
     */
    async restore(groups: readonly Group[]): Promise<Map<number, number>> {
      const idsHere = new Map<number, number>()
      await ledger.write(() => {
        const here = heads()
        const taken = new Set(here.map(({ id }) => id))
        const add = ledger.sql('INSERT INTO rules_group (id, place, name, color) VALUES (?, ?, ?, ?)')
        for (const { id, name, color, members } of groups) {
          const named = here.filter((group) => group.name === name)
          const same = named.find((group) => group.id === id) ?? named[0]
          if (!same && taken.size >= MOST_GROUPS) continue
          const own = same?.id ?? (taken.has(id) ? Math.max(...taken, ...groups.map((group) => group.id)) + 1 : id)
          idsHere.set(id, own)
          if (same) continue
          add.run(own, taken.size, name, color)
          taken.add(own)
          setMembers(own, members)
        }
        rules.changed()
      })
      accounts.regroup()
      return idsHere
    },

    /** @throws not_found */
    async change(
      id: number,
      { name, color, members, place: position }: Partial<GroupDraft> & { place?: number | undefined },
    ) {
      await ledger.write(() => {
        mustExist(id)
        if (name !== undefined) ledger.sql('UPDATE rules_group SET name = ? WHERE id = ?').run(name, id)
        if (color !== undefined) ledger.sql('UPDATE rules_group SET color = ? WHERE id = ?').run(color, id)
        if (members) setMembers(id, members)
        if (position !== undefined) {
          const ids = heads().map((group) => group.id)
          const ordered = ids.filter((one) => one !== id).toSpliced(position, 0, id)
          for (const [at, one] of ordered.entries())
            ledger.sql('UPDATE rules_group SET place = ? WHERE id = ?').run(at, one)
        }
        if (members) rules.changed()
      })
      if (members) {
        accounts.regroup()
        await emit('view.changed', {})
      }
      return get(id)!
    },

    /** @throws not_found; conflict: the group is the scope of a rule */
    async remove(id: number): Promise<void> {
      await ledger.write(() => {
        mustExist(id)
        const used = ledger
          .sql("SELECT 1 FROM rules_rule WHERE scope ->> 'kind' = 'group' AND scope ->> 'id' = ? LIMIT 1")
          .get(id)
        if (used) throw errors.conflict('A rule applies to this group: change or remove the rule first')
        if (accounts.namesGroup(id))
          throw errors.conflict('The view of an account names this group: change the view first')
        ledger.sql('DELETE FROM rules_group WHERE id = ?').run(id)
        rules.changed()
      })
      await emit('view.changed', {})
    },
  }
}
