import { Buffer } from "node:buffer";

/** Public keys that ssh-keygen made, with the fingerprints that it prints of them. Nobody has their private halves. */
export const sshKeys = {
  ed25519: {
    line: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJN08vA+rGr1ExoYTO+M8AI5Gmujp62vD6Oi78o68ngs",
    fingerprint: "SHA256:GUEFU1qvbXkPLROy5EEjnOEWNyBsQPDqn+WQ5DXluKA",
  },
  nistp256: {
    line: "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBKIsxqyFWkVaR5tb75ZtzMOuXLIJKSlLCW0KLDyS532zNLw1+YlTvLrjW9p5ctgZqp9eeSPTgGY/21K1DVqi/WU=",
    fingerprint: "SHA256:G4ZyHwF2RxlGsxsvO0Fn3iVqAodlv2Kt4ZqfoCYa8vo",
  },
  nistp384: {
    line: "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBImEQiBqY3oSLZFs/bPHURAK+/2lEXhe+vAEGoHma/jUQ3kidT5Maiv/Vmw6smfwF7cix0cQczuv8gvsQTubBu1YpBepvanfu0dl93RmlGvcDNkw9fo5ahNB94a+xGwkXA==",
    fingerprint: "SHA256:WFu9f3m7Uu0VnLbLBGJAHnAS3f/++JyoauoeYBJ77Oo",
  },
  nistp521: {
    line: "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBACCKIfz8qaxcrhtIM6iKXcnf3ftTDfCdygFf644bzlcm+Zd36eKzgbgPwfix5NNMECDSZmM2r8Y6EknSl3smqj/vADZHndbjbrMKdy4i1+qtnfTd8FoODrEu+NDloxSLSkEM42kK9irfdVvCmqx8pIZ1jFwt8uya6lwXCtIEykeuQk6pA==",
    fingerprint: "SHA256:ruF5lvK0eKU2a2Ji6ZwK7S7pNVw8YAmkG1sQzud/s04",
  },
  rsa3072: {
    line: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCyEr3IOglvlo2A7Wiio57xLvAatBuNhRrnxaN0tnNHswH7JFLj8U3IbOfbxcEpGZf9f43I4OU8T7+1PZeDtQuBVlQRUTnhg4/XywVxsxkmYXMRYUmtZvOOuo4ZVgqTgFwerQkaCW96wImEjqehRd3RKIoZhufIKkRTyamQ5LYBwNLWOX5Ak+AYnBnHnT/5Paub64iVaZfc4hnyzxQHw7MLaJA+wrR9OUnhxEHAR0ilEzWsluitEgX3Edd9MSmU57tcztB9bmU1MTQxMMoHaSN+TcFihlI6fY4onhJ/CxcxeqoeYvf7xF55z3YA/sLWPcVA2LWJiYs+mNmtdT8bBgG+eplkRKT3zgtiwp1UYfxdg497mSZAn5H8ikkKgIAtzvAHAdme9S+q08GLn9aQQ6+fTbygRyFJSiCPTbOhdxLzDjNYIYVeNSGoLLOBNzy/MqoR9bbbuFp2rUq/wYKexmOMT68Aq96zrPn1Ylo7ku6QcB1Wsz8KLD+4+QHFRngW1nU=",
    fingerprint: "SHA256:Bs5HL/MZ6Y87MCq0WXyWanSSec5YDVzj527yTi7vtP4",
  },
  rsa2048: {
    line: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCe4X+2U7PkHN7FH5FzQosEaVVYHlzEF3VDg5nCk/nazbyqPZ5MvQypz199+OewMaVvx0cTry8UPwrAUOMY6w3TkohW/ES/7y9UxDn89xJzicCd/0aRazi2TGQVUmtKzfl7iO7qSjPh7RSUp3zMNSunnwbyEysRO2JqdIrnmn135uyJ8/NQj+8UQX9IzwBduon/b/m8qYCLr5UIzHaOdVohpZkf12gCDmwZ88K9ST3jb1BI0RZOX6mDB7AU2yxEVrx2VWk8VI5vIHRrKrniiXRXPzTuIG2Dn5KpZ/7QgLzwlpeVoSWvOKurHAsBiBHXF17PlUkVq5C7Q2yYdxX6XCG1",
    fingerprint: "SHA256:Gg6DQDbOqMnmjAtrX4RHN402ofbfJznjIaCEXiOOF88",
  },
} as const;

const text = (it: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(it as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** A public key line of any fields: right or wrong. */
export const sshLine = (type: string, ...fields: readonly (string | Uint8Array)[]): string =>
  `${type} ${Buffer.concat([type, ...fields].map(text)).toString("base64")}`;

/** A key that differs for every number, with a comment behind it. */
export const ed25519 = (seed: number): string => `${sshLine("ssh-ed25519", new Uint8Array(32).fill(seed))} key-${seed}`;

/** The mpint of a number with that many bits. */
export const mpint = (bits: number): Buffer => {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (8 * bytes.length - bits);
  return (bytes[0] & 0x80) === 0 ? bytes : Buffer.concat([Buffer.from([0]), bytes]);
};

/** An armored OpenPGP public key of one packet. */
export function armored(version: number, algorithm: number, bits = 3072, tag = 6): string {
  const head = [version, 0x66, 0, 0, 0, algorithm, ...(version === 6 ? [0, 0, 0, 0] : []), bits >> 8, bits & 0xff];
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(Math.ceil(bits / 8), 1)]);
  return armor(Buffer.concat([Buffer.from([0xc0 | tag, 0xff, 0, 0, body.length >> 8, body.length & 0xff]), body]));
}

/** Any bytes in the armor of a public key. */
export const armor = (bytes: Uint8Array): string => {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  const kind = "PGP PUBLIC KEY BLOCK";
  return [`-----BEGIN ${kind}-----`, "", ...lines, `-----END ${kind}-----`].join("\n");
};
