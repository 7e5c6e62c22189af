// Pkcs11.java: the PKCS#11 module through Java's provider SunPKCS11, beside Java's own providers SUN and SunJCE.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   java bench/Pkcs11.java build/drop-ins/libhashloom-pkcs11.so [--check]
//
// Every digest and MAC must be that of Java's own provider. --check: nothing is timed. The providers take turns in many
// short runs, and the least time of each counts. Java 11 or later.
import java.nio.file.*;
import java.security.*;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Pkcs11 {
    static final int RUNS = 100;
    static final byte[] message = new byte[16384];

    interface Hash {
        byte[] of(int nbytes);
    }

    static Hash hash(String algorithm, Provider provider) throws GeneralSecurityException {
        if (!algorithm.startsWith("Hmac")) {
            MessageDigest digest = MessageDigest.getInstance(algorithm, provider);
            return nbytes -> {
                digest.update(message, 0, nbytes);
                return digest.digest();
            };
        }
        Mac mac = Mac.getInstance(algorithm, provider);
        mac.init(new SecretKeySpec(message, 1, 32, algorithm));
        return nbytes -> {
            mac.update(message, 0, nbytes);
            return mac.doFinal();
        };
    }

    static double nanoseconds(Hash hash, int nbytes, int times) {
        long begin = System.nanoTime();
        for (int i = 0; i < times; i++)
            hash.of(nbytes);
        return (System.nanoTime() - begin) / (double) times;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 1) {
            System.err.println("usage: java bench/Pkcs11.java build/drop-ins/libhashloom-pkcs11.so [--check]");
            System.exit(2);
        }
        boolean isCheck = Arrays.asList(arguments).contains("--check");
        Provider module = Security.getProvider("SunPKCS11")
            .configure("--name=hashloom\nlibrary=" + Path.of(arguments[0]).toAbsolutePath() + "\nslot=0\n");
        for (int i = 0; i < message.length; i++)
            message[i] = (byte) (i * 31 + i / 251);
        int count = 0;
        for (String algorithm : new String[] {"SHA-1", "SHA-256", "SHA-512", "SHA3-256", "HmacSHA1", "HmacSHA256",
                                              "HmacSHA512"}) {
            Hash[] hashes = {hash(algorithm, Security.getProvider(algorithm.startsWith("Hmac") ? "SunJCE" : "SUN")),
                             hash(algorithm, module)};
            for (int nbytes : new int[] {0, 64, 1024, message.length}) {
                if (!Arrays.equals(hashes[0].of(nbytes), hashes[1].of(nbytes))) {
                    System.err.println("FAILED: " + algorithm + " of " + nbytes + " bytes");
                    System.exit(1);
                }
                count++;
                if (isCheck || nbytes == 0)
                    continue;
                double[] least = {1e18, 1e18};
                for (int run = 0; run < RUNS; run++)
                    for (int p = 0; p < 2; p++)
                        least[p] = Math.min(least[p], nanoseconds(hashes[p], nbytes, 4000000 / (nbytes + 1000)));
                System.out.printf("%-10s %6d  Java %9.0f ns  hashloom %9.0f ns  ratio %.2f%n", algorithm, nbytes,
                                  least[0], least[1], least[0] / least[1]);
            }
        }
        System.out.println("Pkcs11.java: " + count + " digests and MACs are those of Java's own providers");
    }
}
