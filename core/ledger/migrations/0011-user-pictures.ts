/** Pictures that people have chosen for themselves. `version`: another one for each picture. */
export const userPictures = `
CREATE TABLE user_pictures (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  version TEXT NOT NULL,
  jpeg BLOB NOT NULL
) STRICT;
`
